package admission

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"sigs.k8s.io/yaml"

	"slipway/internal/platform/auth"
	"slipway/internal/platform/httpapi"
)

// Document is the description of an API as the service uses it.
type Document struct {
	served []byte // JSON, without the marks of the code generator
	// operations by method and pattern: "GET /api/assisted-install/v2/clusters/{cluster_id}".
	operations map[string]*operation
	// fixed are the addresses without parameters, which no pattern may answer for.
	fixed map[string]bool
}

// operation is the document's description of one operation.
type operation struct {
	id     string
	body   *openapi3.Schema // nil without a JSON body
	params []*openapi3.Parameter
	named  []*openapi3.Parameter // see subjectOf
	limit  int64                 // bytes of the body
	// schemes are the credentials the operation takes, in the order of the document.
	schemes []auth.Scheme
}

// ReadDocument reads the description of an API that begins at base.
func ReadDocument(text []byte, base string) (*Document, error) {
	api, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, fmt.Errorf("read the API document: %w", err)
	}
	for _, schema := range api.Components.Schemas {
		closeSchema(schema.Value)
	}
	d := &Document{operations: map[string]*operation{}, fixed: map[string]bool{}}
	for path, item := range api.Paths.Map() {
		d.fixed[base+path] = !strings.Contains(path, "{")
		for method, o := range item.Operations() {
			d.operations[method+" "+base+path] = newOperation(o)
		}
	}
	d.served, err = servedDocument(text)
	return d, err
}

func newOperation(o *openapi3.Operation) *operation {
	out := &operation{id: o.OperationID, limit: cmp.Or(rules[o.OperationID].body, bodyLimit)}
	for _, p := range o.Parameters {
		if p.Value.In == openapi3.ParameterInQuery {
			out.params = append(out.params, p.Value)
		}
	}
	out.named, out.schemes = namedParameters(o), schemesOf(o)
	if o.RequestBody == nil {
		return out
	}
	if media := o.RequestBody.Value.Content.Get("application/json"); media != nil {
		out.body = media.Schema.Value
	}
	return out
}

// schemesOf lists the credentials an operation takes. The contract has a user's for all that name no other (docs/reference/wire.md,
// "Credentials in any place").
func schemesOf(o *openapi3.Operation) []auth.Scheme {
	var out []auth.Scheme
	if o.Security != nil {
		for _, requirement := range *o.Security {
			for name := range requirement {
				out = append(out, auth.Scheme(name))
			}
		}
	}
	if len(out) == 0 {
		return []auth.Scheme{auth.SchemeUser}
	}
	return out
}

// closeSchema refuses unknown fields of objects, so that a misspelt field is an error instead of being ignored.
func closeSchema(s *openapi3.Schema) {
	// The contract leaves out the type of some objects.
	if s.Type != nil && !s.Type.Is("object") || len(s.Properties) == 0 || s.AdditionalProperties.Schema != nil ||
		s.AdditionalProperties.Has != nil {
		return
	}
	open := false
	s.AdditionalProperties.Has = &open
	for _, property := range s.Properties {
		if wrapped := property.Value.AllOf; len(wrapped) == 1 {
			// A reference beside marks of the code generator: errors read better without the wrapping.
			property.Value = wrapped[0].Value
		}
		closeSchema(property.Value)
	}
}

// servedDocument returns the document as JSON for clients.
func servedDocument(document []byte) ([]byte, error) {
	var tree any
	if err := yaml.Unmarshal(document, &tree); err != nil {
		return nil, fmt.Errorf("read the API document: %w", err)
	}
	text, err := json.Marshal(withoutMarks(tree))
	if err != nil {
		return nil, fmt.Errorf("write the API document: %w", err)
	}
	return text, nil
}

// withoutMarks drops what only the code generator reads.
func withoutMarks(tree any) any {
	switch node := tree.(type) {
	case map[string]any:
		for key, value := range node {
			if strings.HasPrefix(key, "x-go-") || strings.HasPrefix(key, "x-omit") {
				delete(node, key)
				continue
			}
			node[key] = withoutMarks(value)
		}
	case []any:
		for i, value := range node {
			node[i] = withoutMarks(value)
		}
	}
	return tree
}

// Open returns the document of a service that takes everybody: credentials may be left out.
func (d *Document) Open() (*Document, error) {
	out := *d
	return &out, out.takesAnybody()
}

// Fixed reports whether the document has an address without parameters, which no pattern may answer for.
func (d *Document) Fixed(path string) bool { return d.fixed[path] }

// Takes reports whether an address without parameters takes the method of a request.
func (d *Document) Takes(r *http.Request) bool {
	return d.operations[patternMethod(r)+" "+r.URL.Path] != nil
}

// Serve answers with the document as JSON.
func (d *Document) Serve(w http.ResponseWriter, _ *http.Request) {
	httpapi.Bytes(w, http.StatusOK, "application/json", d.served)
}
