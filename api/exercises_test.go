package api_test

import (
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// call is a request below base.
type call struct {
	method, path string
	body         any
	headers      []string
}

// exercise is how an operation succeeds and how it is refused. Common refusals are not in the table: an operation with an id in its
// address answers 404 for another id, with a parameter that is no text 400 for a text, and with a JSON body 400 for a body that the
// document does not allow.
type exercise struct {
	ok func(*fixture) call
	// bad is refused with 400, missing with 404, conflict with 409.
	bad, missing, conflict func(*fixture) call
}

// exercises returns the exercises of all operations, by their operationId.
func exercises() map[string]exercise {
	out := map[string]exercise{}
	for _, part := range []map[string]exercise{
		clusterExercises, installExercises, fileExercises, infraEnvExercises, hostExercises, catalogueExercises,
	} {
		for id, e := range part {
			out[id] = e
		}
	}
	return out
}

var anyID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// elsewhere returns the same request for objects that do not exist.
func (c call) elsewhere() call {
	path, query, _ := strings.Cut(c.path, "?")
	c.path = anyID.ReplaceAllStringFunc(path, func(string) string { return uuid.NewString() })
	if query != "" {
		c.path += "?" + query
	}
	return c
}

// broken returns the same request with a body that the document does not allow.
func (c call) broken() call {
	fields, isObject := c.body.(object)
	if !isObject {
		c.body = `{`
		return c
	}
	broken := maps.Clone(fields)
	broken["no_such_field"] = 1
	c.body = broken
	return c
}

// misspelt returns the same request with a parameter that the document does not allow; nil where it allows every text.
func misspelt(operation *openapi3.Operation, path *openapi3.PathItem) func(call) call {
	for _, p := range append(append(openapi3.Parameters{}, operation.Parameters...), path.Parameters...) {
		name, schema := p.Value.Name, p.Value.Schema.Value
		if schema.Type.Is("string") && schema.Format != "uuid" && len(schema.Enum) == 0 {
			continue
		}
		switch p.Value.In {
		case "path":
			return func(c call) call {
				path, query, _ := strings.Cut(c.path, "?")
				c.path = anyID.ReplaceAllLiteralString(path, "17") + "?" + query
				return c
			}
		case "query":
			return func(c call) call {
				address, query, _ := strings.Cut(c.path, "?")
				values, _ := url.ParseQuery(query)
				values.Set(name, "no such value")
				c.path = address + "?" + values.Encode()
				return c
			}
		case "header":
			return func(c call) call {
				c.headers = append(slices.Clone(c.headers), name, "no such value")
				return c
			}
		}
	}
	return nil
}

func (w *fixture) do(c call) reply {
	w.t.Helper()
	return w.send(c.method, c.path, c.body, c.headers...)
}

// refusals lists the requests an operation refuses, by the status of the refusal.
func refusals(e exercise, operation *openapi3.Operation, item *openapi3.PathItem, path string) map[int]func(*fixture) call {
	out := map[int]func(*fixture) call{}
	add := func(status int, how func(*fixture) call) {
		if how != nil {
			out[status] = how
		}
	}
	if strings.Contains(path, "_id}") {
		add(http.StatusNotFound, func(w *fixture) call { return e.ok(w).elsewhere() })
	}
	if broken := misspelt(operation, item); broken != nil {
		add(http.StatusBadRequest, func(w *fixture) call { return broken(e.ok(w)) })
	}
	if operation.RequestBody != nil && operation.RequestBody.Value.Content.Get("application/json") != nil {
		add(http.StatusBadRequest, func(w *fixture) call { return e.ok(w).broken() })
	}
	add(http.StatusBadRequest, e.bad)
	add(http.StatusNotFound, e.missing)
	add(http.StatusConflict, e.conflict)
	return out
}

// TestEveryOperationSucceedsAndRefuses calls each operation of the document in the state it succeeds in and in states it refuses with
// 400, 404 and 409. A documented status must be reached, and a reached status documented.
func TestEveryOperationSucceedsAndRefuses(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromFile("openapi.yaml")
	require.NoError(t, err)
	table := exercises()
	tested := 0
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			e, found := table[operation.OperationID]
			require.True(t, found, "no exercise of %s", operation.OperationID)
			delete(table, operation.OperationID)
			tested++
			t.Run(operation.OperationID, func(t *testing.T) {
				t.Parallel()
				w := &fixture{service: newService(t)}
				for status, how := range refusals(e, operation, item, path) {
					require.NotNil(t, operation.Responses.Status(status), "status %d is not documented", status)
					c := how(w)
					w.do(c).Reason(status)
					w.orchestrator.err = nil
				}
				for _, status := range []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict} {
					if _, reached := refusals(e, operation, item, path)[status]; !reached {
						require.Nil(t, operation.Responses.Status(status), "status %d is documented, but never the answer", status)
					}
				}
				c := e.ok(w)
				require.Equal(t, method, c.method)
				r := w.do(c)
				require.NotNil(t, operation.Responses.Status(r.Status), "%d: %s", r.Status, r.Body)
				require.Less(t, r.Status, 300, "%s", r.Body)
			})
		}
	}
	require.Empty(t, table, "exercises of operations that api/openapi.yaml does not have; ours stand in ownExercises")
	require.Equal(t, 81, tested)
}
