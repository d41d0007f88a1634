package api_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/api"
	"slipway/api/admission"
	"slipway/internal/platform/auth"
	"slipway/internal/testing/docpage"
	"slipway/internal/wire"
)

var update = flag.Bool("update", false, "write the page in docs/reference/")

func TestDocsOfOperations(t *testing.T) {
	t.Parallel()
	operations, err := api.Operations()
	require.NoError(t, err)
	var contract, own [][]string
	for _, o := range operations {
		row := []string{"`" + o.Method + " " + strings.TrimPrefix(o.Path, wire.BasePath) + "`", o.ID, rolesOf(o.ID)}
		if o.Own {
			own = append(own, row)
		} else {
			contract = append(contract, row)
		}
	}
	text := docpage.Title("Operations of the API", "api") +
		fmt.Sprintf(
			"The v2 document has %d operations. How to call them: [api](../api.md); parameters and answers: `/docs` of a service. "+
				"Who may call them: [roles](../roles.md).\n\n",
			len(contract),
		) +
		"## Of the contract, below `" + wire.BasePath + "`\n" + docpage.Table([]string{"operation", "id", "roles"}, contract) +
		"## Our own\n" + docpage.Table([]string{"operation", "id", "roles"}, own)
	docpage.Check(t, *update, "operations.md", text[:len(text)-1])
}

func rolesOf(operation string) string {
	var names []string
	for _, role := range admission.Allowed(operation) {
		names = append(names, string(role))
	}
	return strings.Join(names, ", ")
}

// The document says the same as the table: which credentials an operation takes.
func TestDocumentTakesTheCredentialsOfTheTable(t *testing.T) {
	t.Parallel()
	places := map[auth.Role][]auth.Scheme{
		"admin": {"userAuth"}, "viewer": {"userAuth"}, "agent": {"agentAuth"}, "registrar": {"agentAuth"}, "controller": {"agentAuth"},
		"foreign": {"agentAuth"}, "address": {"urlAuth", "imageAuth", "imageURLAuth"}, "watcher": {"watcherAuth"},
	}
	operations, err := api.Operations()
	require.NoError(t, err)
	for _, o := range operations {
		for role, schemes := range places {
			if !slices.Contains(admission.Allowed(o.ID), role) {
				continue
			}
			require.True(t, slices.ContainsFunc(schemes, func(s auth.Scheme) bool { return slices.Contains(o.Schemes, s) }),
				"%s: %s is in the table, and the document takes %v", o.ID, role, o.Schemes)
		}
		for _, scheme := range o.Schemes {
			require.True(t, slices.ContainsFunc(admission.Allowed(o.ID), func(r auth.Role) bool { return slices.Contains(places[r], scheme) }),
				"%s: the document takes %s, and no role of the table has it", o.ID, scheme)
		}
	}
}
