package api_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/api"
	"slipway/internal/docpage"
)

var update = flag.Bool("update", false, "write the page in docs/")

func TestDocsOfOperations(t *testing.T) {
	t.Parallel()
	operations, err := api.Operations()
	require.NoError(t, err)
	var built, missing, own [][]string
	for _, o := range operations {
		row := []string{"`" + o.Method + " " + strings.TrimPrefix(o.Path, api.BasePath) + "`", o.ID}
		switch {
		case o.Own:
			own = append(own, row)
		case o.Instead == "":
			built = append(built, row)
		default:
			missing = append(missing, append(row, o.Instead))
		}
	}
	text := docpage.Title("Operations of the API", "api") +
		fmt.Sprintf("Of the %d operations of the v2 document %d work; the others answer 501 with the sentence shown here. How to call them: [api](api.md).\n\n",
			len(built)+len(missing), len(built)) +
		"## Built, below `" + api.BasePath + "`\n" + docpage.Table([]string{"operation", "id"}, built) +
		"## Our own\n" + docpage.Table([]string{"operation", "id"}, own) +
		"## Not built yet\n" + docpage.Table([]string{"operation", "id", "instead"}, missing)
	docpage.Check(t, *update, "operations.md", text[:len(text)-1])
}
