package api

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"sigs.k8s.io/yaml"

	"slipway/internal/platform/auth"
)

//go:embed openapi.yaml
var openapiYAML []byte

// document is the description of an API as the service uses it.
type document struct {
	served []byte // JSON, without the marks of the code generator
	// operations by method and pattern: "GET /api/assisted-install/v2/clusters/{cluster_id}".
	operations map[string]*operation
	// fixed are the addresses without parameters, which no pattern may answer for.
	fixed map[string]bool
}

// operation is what the document says of one operation.
type operation struct {
	id     string
	body   *openapi3.Schema // nil without a JSON body
	params []*openapi3.Parameter
	limit  int64 // bytes of the body
	// schemes are the credentials the operation takes, in the order of the document.
	schemes []auth.Scheme
}

// documents are those of the v2 API and of our own commands.
type documents struct{ v2, own *document }

// The documents are part of the program: a process reads them once, and nothing changes them
// afterwards. The open ones let requests leave credentials out.
var (
	closedDocuments = sync.OnceValues(func() (documents, error) {
		v2, err := readDocument(openapiYAML, BasePath)
		own, oerr := readDocument(ownYAML, OwnPath)
		return documents{v2, own}, errors.Join(err, oerr)
	})
	openDocuments = sync.OnceValues(func() (documents, error) {
		closed, err := closedDocuments()
		if err != nil {
			return documents{}, err
		}
		v2, own := *closed.v2, *closed.own
		return documents{&v2, &own}, errors.Join(v2.takesAnybody(), own.takesAnybody())
	})
)

// readDocument reads the description of an API that begins at base.
func readDocument(text []byte, base string) (*document, error) {
	api, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, fmt.Errorf("read the API document: %w", err)
	}
	for _, schema := range api.Components.Schemas {
		closeSchema(schema.Value)
	}
	d := &document{operations: map[string]*operation{}, fixed: map[string]bool{}}
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
	out := &operation{id: o.OperationID, limit: bodyLimit(o.OperationID)}
	for _, p := range o.Parameters {
		if p.Value.In == openapi3.ParameterInQuery {
			out.params = append(out.params, p.Value)
		}
	}
	out.schemes = schemesOf(o)
	if o.RequestBody == nil {
		return out
	}
	if media := o.RequestBody.Value.Content.Get("application/json"); media != nil {
		out.body = media.Schema.Value
	}
	return out
}

// schemesOf are the credentials an operation takes. The contract has a user's for all
// that say nothing else (docs/reference/wire.md, "Credentials in any place").
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

// servedDocument is the document as JSON for clients.
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

func (d *document) serve(w http.ResponseWriter, _ *http.Request) {
	_ = okText(w, "application/json", d.served)
}
