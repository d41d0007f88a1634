package useryaml_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/hostconfig/useryaml"
	"slipway/internal/model"
)

// limit is the size limit of the documents here, in bytes.
const limit = 8 << 20

func TestDocumentsThatGrowBeyondReasonAreRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"an alias many times":      `{a: &a "` + strings.Repeat("x", 500_000) + `", b: [` + strings.Repeat("*a,", 100_000) + "]}\n",
		"aliases of aliases":       "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + nested("bcdefghi"),
		"an alias within itself":   "a: &a [*a]\n",
		"merged maps of maps":      "a: &a {x: " + strings.Repeat("y", 1<<20) + "}\nb: [" + strings.Repeat("{<<: *a},", 10) + "]\n",
		"plain text without end":   "a: " + strings.Repeat("x", limit) + "\n",
		"aliases of an older YAML": "a: &a \"\\/\"\nb: *a\nc: \"\\y\"\n",
	} {
		require.ErrorIs(t, useryaml.Check([]byte(text), limit), model.ErrInvalid, name)
	}
}

// nested makes lists of ten aliases of the list before.
func nested(names string) string {
	var out strings.Builder
	before := 'a'
	for _, name := range names {
		out.WriteString(string(name) + ": &" + string(name) + " [" + strings.Repeat("*"+string(before)+",", 10) + "]\n")
		before = name
	}
	return out.String()
}

func TestAliasesWithMeasurePass(t *testing.T) {
	t.Parallel()
	require.NoError(t, useryaml.Check([]byte("a: &a [x, z]\nb: *a\n"), limit))
	require.NoError(t, useryaml.Check([]byte("a: [\n"), limit), "the reader reports what is no YAML")
}
