package api_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestDocumentIsServedWithoutTheMarksOfTheGenerator(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for _, path := range []string{"/openapi", "/v2/openapi"} {
		r := s.want(http.StatusOK, http.MethodGet, path, nil)
		require.Equal(t, "application/json", r.header.Get("Content-Type"))
		require.Equal(t, "3.0.3", r.object()["openapi"])
		require.NotContains(t, string(r.body), "x-go-")
		require.NotContains(t, string(r.body), "x-omit")
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

var parameter = regexp.MustCompile(`\{[a-z_]+\}`)

// TestEveryOperationAnswers calls all operations of the document: those that are built
// look at their input, the others say that they are not, and none is forgotten.
func TestEveryOperationAnswers(t *testing.T) {
	t.Parallel()
	s := newService(t)
	notBuilt := 0
	for _, line := range operationsOf(t, "openapi.yaml") {
		method, rest, _ := strings.Cut(line, " ")
		path, rest, _ := strings.Cut(rest, " ")
		id, _, _ := strings.Cut(rest, " ")
		address := parameter.ReplaceAllString(path, uuid.NewString()) +
			"?file_name=" + fileNames[id] + "&openshift_version=4.22&logs_type=controller"
		r := s.send(method, address, nil)
		switch {
		case r.status == http.StatusNotImplemented:
			notBuilt++
			require.Contains(t, r.reason(http.StatusNotImplemented), id)
		case slices.Contains([]int{200, 202, 204}, r.status):
		default:
			require.Contains(t, []int{400, 404, 409, 415, 422}, r.status, "%s: %s", line, r.body)
			require.NotEmpty(t, r.reason(r.status))
		}
	}
	require.Equal(t, 25, notBuilt)
}

// fileNames are what operations with a closed set of files take.
var fileNames = map[string]string{
	"V2DownloadClusterCredentials": "kubeconfig", "V2GetPresignedForClusterCredentials": "kubeconfig",
	"V2DownloadClusterFiles": "bootstrap.ign", "V2GetPresignedForClusterFiles": "bootstrap.ign",
	"v2DownloadInfraEnvFiles": "discovery.ign", "GetInfraEnvPresignedFileURL": "discovery.ign",
	"V2DeleteClusterManifest": "a.yaml", "v2DownloadClusterManifest": "a.yaml",
}
