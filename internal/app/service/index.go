package service

import (
	"bytes"
	"html/template"
	"net/http"
	"strings"

	"slipway/api"
	"slipway/internal/app/pages"
	"slipway/internal/platform/frontend"
	"slipway/internal/platform/httpapi"
	"slipway/internal/wire"
)

// link is an address of the service, and what is there.
type link struct {
	Path, Name, What string
}

// links are the addresses that people and programs begin with.
var links = []link{
	{frontend.UIPath, "web_ui", "Installations in Temporal's web UI: clusters, hosts and their whole history"},
	{pages.Path + "/", "installations", "Your own installations: hosts, their steps and events"},
	{api.ReferencePath, "reference", "Reference of the API, to read and to try"},
	{wire.BasePath + "/v2/openapi", "openapi", "Document of the assisted-install v2 API"},
	{api.OwnPath + "/openapi", "openapi_slipway", "Document of Slipway's own API"},
	{"/ready", "ready", "Whether the service and its parts work"},
	{"/metrics", "metrics", "Metrics for Prometheus"},
}

var indexPage = template.Must(template.New("index").Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Slipway</title>
<style>
body { font: 1rem/1.5 system-ui, sans-serif; margin: 3rem auto; max-width: 44rem; padding: 0 1rem; color-scheme: light dark }
dt { margin-top: 1rem } dd { margin: 0 }
pre { overflow-x: auto }
</style>
</head>
<body>
<h1>Slipway</h1>
<p>This service installs OpenShift clusters on bare metal.</p>
<dl>{{range .Links}}
<dt><a href="{{.Path}}">{{.Path}}</a></dt><dd>{{.What}}</dd>{{end}}
</dl>
<p>From the command line:</p>
<pre>slipway login {{.BaseURL}}
slipway cluster list</pre>
</body>
</html>
`))

// index answers with the links of the service: as a page for browsers, as JSON for programs. It shows nothing that needs a credential.
func (s *Service) index() http.Handler {
	return httpapi.Handler(func(w http.ResponseWriter, r *http.Request) error {
		if !strings.Contains(r.Header.Get("Accept"), "text/html") {
			answer := map[string]string{}
			for _, l := range links {
				answer[l.Name] = s.options.BaseURL + l.Path
			}
			httpapi.JSON(w, http.StatusOK, answer)
			return nil
		}
		var page bytes.Buffer
		if err := indexPage.Execute(&page, struct {
			BaseURL string
			Links   []link
		}{s.options.BaseURL, links}); err != nil {
			return err
		}
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
		httpapi.Bytes(w, http.StatusOK, "text/html; charset=utf-8", page.Bytes())
		return nil
	})
}
