package api_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/api"
	"slipway/internal/testing/docpage"
)

var update = flag.Bool("update", false, "write the page in docs/reference/")

func TestDocsOfOperations(t *testing.T) {
	t.Parallel()
	operations, err := api.Operations()
	require.NoError(t, err)
	var contract, own [][]string
	for _, o := range operations {
		row := []string{"`" + o.Method + " " + strings.TrimPrefix(o.Path, api.BasePath) + "`", o.ID}
		if o.Own {
			own = append(own, row)
		} else {
			contract = append(contract, row)
		}
	}
	text := docpage.Title("Operations of the API", "api") +
		fmt.Sprintf(
			"The v2 document has %d operations. How to call them: [api](../api.md); parameters and answers: `/docs` of a service.\n\n",
			len(contract),
		) +
		"## Of the contract, below `" + api.BasePath + "`\n" + docpage.Table([]string{"operation", "id"}, contract) +
		"## Our own\n" + docpage.Table([]string{"operation", "id"}, own)
	docpage.Check(t, *update, "operations.md", text[:len(text)-1])
}
