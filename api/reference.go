package api

import (
	"net/http"

	"slipway/internal/wire"

	"github.com/go-chi/chi/v5"
	"github.com/swaggest/swgui"
	"github.com/swaggest/swgui/v5emb"
)

// ReferencePath is where the documents of both APIs are rendered for people.
const ReferencePath = "/docs"

// reference serves Swagger UI from the program itself: machines without another network can read it.
func reference() http.Handler {
	ui := v5emb.NewHandlerWithConfig(swgui.Config{
		Title: "Slipway API", SwaggerJSON: wire.BasePath + "/v2/openapi", BasePath: ReferencePath, ShowTopBar: true,
		SettingsUI: map[string]string{
			"urls": `[{url: "` + wire.BasePath + `/v2/openapi", name: "assisted-install v2"}, {url: "` + OwnPath +
				`/openapi", name: "Slipway's own"}]`,
			"docExpansion": `"list"`, "filter": "true",
		},
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The page holds its settings in a script of its own and nothing from elsewhere.
		w.Header().Set("Content-Security-Policy",
			"default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'")
		ui.ServeHTTP(w, r)
	})
}

func (s *server) referenceRoutes(r chi.Router) {
	page := reference()
	r.Get(ReferencePath, page.ServeHTTP)
	r.Get(ReferencePath+"/*", page.ServeHTTP)
}
