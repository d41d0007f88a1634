package frontend

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"
)

// apiPath is below UIPath what the pages call; a gateway translates it to calls of Temporal's frontend.
const apiPath = "/api/v1/"

// serviceReads lists the requests of the pages about Temporal itself. The list of namespaces is answered by ownNamespace. Not in it are
// the endpoints of Nexus, which belong to a whole Temporal cluster, and the newest releases, which the module asks GitHub for.
var serviceReads = []string{"settings", "ui-extensions", "cluster-info", "system-info"}

// queryPath is a read, although it is sent by POST.
const queryPath = "workflows/*/query/*"

// namespaceWrites are the changes of a namespace that the buttons of the pages make, below its path; * is any one segment. Not in it are
// starts of workflows, also by new or changed schedules: the service starts them all, and a copy would be a second one for the same rows.
// Neither are changes of the namespace and of its search attributes, calls of workers, which complete activities of other workers, and
// what Slipway has none of: standalone activities, Nexus operations, rules.
var namespaceWrites = map[string][]string{
	http.MethodPost: {
		"workflows/*/cancel",
		"workflows/*/pause",
		"workflows/*/reset",
		"workflows/*/signal/*",
		"workflows/*/terminate",
		"workflows/*/unpause",
		"workflows/*/update/*",
		"activities-deprecated/pause",
		"activities-deprecated/reset",
		"activities-deprecated/unpause",
		"activities-deprecated/update-options",
		"batch-operations/*",
		"schedules/*/patch",
		"worker-deployments/*/set-current-version",
		"worker-deployments/*/set-ramping-version",
	},
	http.MethodDelete: {"schedules/*"},
}

// fence lets through only what the pages need, and never more than one namespace: the connection may have rights
// to a whole Temporal cluster. It comes after routing, so that it sees the path that the gateway sees.
type fence struct {
	namespace string
	readOnly  bool
}

// restrict returns the middleware.
func (f fence) restrict(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		call, isCall := strings.CutPrefix(gatewayPath(r.URL), apiPath)
		if !isCall {
			return next(c)
		}
		dropHeaders(r.Header)
		switch {
		case r.Method == http.MethodGet && call == "namespaces":
			return f.ownNamespace(c, next)
		case !f.allows(r.Method, call):
			return echo.NewHTTPError(http.StatusForbidden, "the web UI has no access to "+r.Method+" "+r.URL.Path)
		}
		return next(c)
	}
}

// allows reports whether a call, below apiPath, is within the fence.
func (f fence) allows(method, call string) bool {
	inside, ours := strings.CutPrefix(call, "namespaces/"+url.PathEscape(f.namespace))
	inside, below := strings.CutPrefix(inside, "/")
	switch {
	case !ours || inside != "" && !below:
		return method == http.MethodGet && matches(serviceReads, call)
	case method == http.MethodGet:
		return true
	case method == http.MethodPost && matches([]string{queryPath}, inside):
		return true
	}
	return !f.readOnly && matches(namespaceWrites[method], inside)
}

// Command names a change that a request of the pages makes.
type Command struct {
	Name    string   // "workflows/terminate"; empty: what the pages have no access to
	Pattern string   // of its path, below UIPath
	Objects []string // the values in its path: the id of a workflow, the name of a signal
}

// CommandOf returns the command of a request below UIPath; false for a read, which changes nothing.
func CommandOf(r *http.Request) (Command, bool) {
	call, isCall := strings.CutPrefix(gatewayPath(r.URL), UIPath+apiPath)
	if !isCall || r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions {
		return Command{}, false
	}
	segments := strings.Split(call, "/")
	if len(segments) < 3 || segments[0] != "namespaces" {
		return Command{Pattern: apiPath + "*"}, true
	}
	inside := strings.Join(segments[2:], "/")
	if r.Method == http.MethodPost && matches([]string{queryPath}, inside) {
		return Command{}, false
	}
	for _, pattern := range namespaceWrites[r.Method] {
		if matches([]string{pattern}, inside) {
			return newCommand(pattern, segments[2:]), true
		}
	}
	return Command{Pattern: apiPath + "namespaces/*"}, true
}

func newCommand(pattern string, segments []string) Command {
	c := Command{Pattern: apiPath + "namespaces/*/" + pattern, Name: strings.ReplaceAll(pattern, "/*", "")}
	for n, part := range strings.Split(pattern, "/") {
		if part != "*" {
			continue
		}
		value, err := url.PathUnescape(segments[n])
		if err != nil {
			value = segments[n]
		}
		c.Objects = append(c.Objects, value)
	}
	return c
}

// matches reports whether one of the patterns fits a path, segment by segment. A segment is never empty: the
// gateway would give such a path a meaning of its own.
func matches(patterns []string, path string) bool {
	segments := strings.Split(path, "/")
next:
	for _, pattern := range patterns {
		parts := strings.Split(pattern, "/")
		if len(parts) != len(segments) {
			continue
		}
		for i, part := range parts {
			if segments[i] == "" || part != "*" && part != segments[i] {
				continue next
			}
		}
		return true
	}
	return false
}

// gatewayPath returns the path as the router and the gateway read it: still escaped where it was sent escaped.
func gatewayPath(u *url.URL) string {
	if u.RawPath != "" {
		return u.RawPath
	}
	return u.Path
}

// dropHeaders removes what the gateway would act on or pass on: another method, credentials of this service, and
// metadata of gRPC.
func dropHeaders(h http.Header) {
	for name := range h {
		switch {
		case name == "X-Http-Method-Override", name == "Authorization", name == "Authorization-Extras", name == "Cookie",
			strings.HasPrefix(name, "Grpc-Metadata-"):
			h.Del(name)
		}
	}
}

// ownNamespace answers the list of namespaces with ours alone. The gateway describes a namespace in the form in
// which it lists it.
func (f fence) ownNamespace(c echo.Context, next echo.HandlerFunc) error {
	r := c.Request()
	r.URL.Path, r.URL.RawPath = apiPath+"namespaces/"+f.namespace, ""
	if escaped := apiPath + "namespaces/" + url.PathEscape(f.namespace); escaped != r.URL.Path {
		r.URL.RawPath = escaped
	}
	r.URL.RawQuery = ""
	wire := c.Response().Writer
	page := &listPage{ResponseWriter: wire, status: http.StatusOK}
	c.Response().Writer = page
	err := next(c)
	c.Response().Writer = wire
	if err != nil {
		return err
	}
	wire.WriteHeader(page.status)
	if page.status != http.StatusOK {
		_, err = wire.Write(page.body.Bytes())
		return err
	}
	_, err = wire.Write([]byte(`{"namespaces":[` + page.body.String() + `]}`))
	return err
}

// listPage keeps an answer until it is put into a list.
type listPage struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (p *listPage) WriteHeader(status int)         { p.status = status }
func (p *listPage) Write(part []byte) (int, error) { return p.body.Write(part) }
