package api_test

import (
	"net/http"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
)

func TestDocumentIsServedWithoutTheMarksOfTheGenerator(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for _, path := range []string{"/openapi", "/v2/openapi"} {
		r := s.want(http.StatusOK, http.MethodGet, path, nil)
		require.Equal(t, "application/json", r.Header.Get("Content-Type"))
		require.Equal(t, "3.0.3", r.Object()["openapi"])
		require.NotContains(t, string(r.Body), "x-go-")
		require.NotContains(t, string(r.Body), "x-omit")
	}
}

func TestDocumentAndItsExamplesAreValid(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromFile("openapi.yaml")
	require.NoError(t, err)
	require.NoError(t, doc.Validate(t.Context()))
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			if operation.RequestBody == nil {
				continue
			}
			media := operation.RequestBody.Value.Content.Get("application/json")
			if media != nil && media.Example != nil {
				require.NoError(t, media.Schema.Value.VisitJSON(media.Example), "%s %s", method, path)
			}
		}
	}
}
