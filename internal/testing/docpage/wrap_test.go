package docpage

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParagraphsAreWrapped(t *testing.T) {
	t.Parallel()
	long := strings.TrimSpace(strings.Repeat("word ", 30)) // 149 columns
	first := strings.TrimSpace(strings.Repeat("word ", 28))
	item := strings.TrimSpace(strings.Repeat("word ", 27))
	link := "[" + strings.Repeat("a b ", 5) + "](page.md)"
	for name, c := range map[string][2]string{
		"a long line":            {long, first + "\nword word"},
		"the rest of its lines":  {long + "\nand more\n\nshort", first + "\nword word and more\n\nshort"},
		"a list item":            {"- " + long + "\n- next", "- " + item + "\n  word word word\n- next"},
		"a link is not broken":   {first[:119] + " " + link, first[:119] + "\n" + link},
		"a table stays":          {"| " + long + " |", "| " + long + " |"},
		"a heading stays":        {"# " + long, "# " + long},
		"code stays":             {"```\n" + long + "\n```\n" + long, "```\n" + long + "\n```\n" + first + "\nword word"},
		"short paragraphs stay":  {"a\nb\n\nc\n", "a\nb\n\nc\n"},
		"a table ends paragraph": {long + "\n| a |", first + "\nword word\n| a |"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c[1], wrap(c[0]))
		})
	}
}
