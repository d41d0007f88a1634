package admission

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-chi/chi/v5"

	"slipway/internal/model"
	"slipway/internal/platform/fair"
	"slipway/internal/platform/httpapi"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

type operationKey struct{}

// operationOf returns what the document says of the operation a request is for.
func operationOf(r *http.Request) *operation {
	o, _ := r.Context().Value(operationKey{}).(*operation)
	return o
}

// Admit lets a request through to its operation: known, allowed to the caller,
// with parameters as the document has them and a body of bounded size.
func (g *Gate) Admit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer holdRefusal(r) // when all turns are given back
		address := patternMethod(r) + " " + chi.RouteContext(r.Context()).RoutePattern()
		o := g.operation(address)
		if o == nil {
			httpapi.Fail(w, r, model.NotFoundf("no such operation: %s %s", r.Method, r.URL.Path))
			return
		}
		httpapi.About(r).Operation = o.id
		if rules[o.id].polls && PreferredWait(r.Header.Values(wire.HeaderPrefer)) == 0 {
			r = r.WithContext(store.WithFirstLook(r.Context()))
		}
		checked := fair.Begin(r.Context())
		caller, err := g.authenticate(r, o)
		if err != nil {
			checked(false)
			httpapi.Fail(w, r, err)
			return
		}
		checked(true)
		if err := g.authorize(r, o, caller); err != nil {
			g.refuse(w, r, o, caller, err)
			return
		}
		if err := checkParameters(o, r); err != nil {
			g.refuse(w, r, o, caller, err)
			return
		}
		w.Header().Set("Cache-Control", "no-store") // until a handler says otherwise: most answers are secret to some callers
		if rules[o.id].heavy && !g.o.Identity.Open() {
			leave, err := g.heavy.take(r, caller)
			if err != nil {
				httpapi.Fail(w, r, err)
				return
			}
			defer leave()
		}
		ctx := context.WithValue(r.Context(), operationKey{}, o)
		r = r.WithContext(context.WithValue(ctx, callerKey{}, caller))
		g.record(w, r, o, caller, g.withBody(o, caller, next))
	})
}

// withBody bounds the body of a request, and waits for a large one.
func (g *Gate) withBody(o *operation, caller Caller, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil {
			r.Body = http.MaxBytesReader(w, r.Body, o.limit)
		}
		if large(r, o) {
			leave, err := g.gather(r, o, caller)
			if err != nil {
				httpapi.Fail(w, r, err)
				return
			}
			defer leave()
		}
		next.ServeHTTP(w, r)
	})
}

// operation finds an operation by its method and pattern; nil when no document has it.
func (g *Gate) operation(address string) *operation {
	for _, d := range g.o.Documents {
		if o := d.operations[address]; o != nil {
			return o
		}
	}
	return nil
}

func patternMethod(r *http.Request) string {
	if r.Method == http.MethodHead {
		return http.MethodGet
	}
	return r.Method
}

// checkParameters holds the query against the closed sets and limits of the document.
func checkParameters(o *operation, r *http.Request) error {
	if len(o.params) == 0 || r.URL.RawQuery == "" {
		return nil
	}
	query := r.URL.Query()
	for _, p := range o.params {
		text := query.Get(p.Name)
		if text == "" {
			continue
		}
		if err := refuseNUL(p.Name, text); err != nil {
			return err
		}
		if err := checkParameter(p.Schema.Value, text); err != nil {
			return explain(p.Name, err)
		}
	}
	return nil
}

func checkParameter(schema *openapi3.Schema, text string) error {
	switch {
	case schema.Type.Is("array"):
		for item := range strings.SplitSeq(text, ",") {
			if err := checkParameter(schema.Items.Value, item); err != nil {
				return err
			}
		}
	case schema.Type.Is("integer"):
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return model.Invalidf("require a whole number, found %q", text)
		}
		return schema.VisitJSON(float64(n))
	case schema.Type.Is("string"):
		return schema.VisitJSON(text)
	}
	return nil
}
