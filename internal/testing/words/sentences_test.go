package words_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shapes are sentences that hide their noun behind a pronoun. Each has a budget: how often it still stands in the repository. A budget
// only falls; go test -v lists all of them.
var shapes = []struct {
	shape   phrase
	budget  int
	example string
}{
	{phrase{`(?:those|that) of`, "the noun again, or a possessive"}, 666, "its name is that of the cluster"},
	{phrase{`(?:is|are|was|were) what`, "a verb: returns, lists, decides"}, 368, "limit is what a body may have"},
	{phrase{`(?:stays?|stayed|remains?) what (?:it|they|he)`, "is left unchanged"}, 11, "a host that left stays what it is"},
	{phrase{`(?:something|everything|anything|nothing) else that`, "the thing itself"}, 2, "something else that writes"},
	{phrase{`the ones? (?:that|of|with|which)`, "the noun again"}, 82, "the one that was first"},
	{phrase{`(?:came|comes) to (?:be|an end|its end|nothing)`, "a plain verb"}, 1, "what came to nothing"},
	{phrase{`one of (?:ours|its own|his own|theirs)`, "the noun again"}, 9, "an agent, one of ours"},
	{phrase{`of others`, "the noun: other tenants, other implementations"}, 40, "objects of others"},
}

// functionBudget is how many comments of functions begin with their name and "is" or "are".
const functionBudget = 1138

func TestSentencesNameTheirNouns(t *testing.T) {
	t.Parallel()
	list := make([]phrase, len(shapes))
	for i, s := range shapes {
		list[i] = s.shape
	}
	patterns := compiled(list)
	counts := make([]int, len(shapes))
	var functions []string
	for _, file := range files(t) {
		text, err := os.ReadFile(root + file)
		require.NoError(t, err)
		for i := range patterns {
			for _, f := range textsOf(file, text, patterns[i:i+1]) {
				if _, ok := excepted(f); ok {
					continue
				}
				counts[i]++
				t.Log(f)
			}
		}
		if strings.HasSuffix(file, ".go") {
			functions = append(functions, nouns(t, file, text)...)
		}
	}
	for i, s := range shapes {
		require.NotEmpty(t, patterns[i].FindString(s.example), s.shape.pattern)
		assert.Equal(t, s.budget, counts[i], "texts with %q: a higher number is not allowed, and a lower one is the new budget", s.shape.pattern)
	}
	for _, f := range functions {
		t.Logf("%s: begin the comment of a function with a verb", f)
	}
	require.Len(t, functions, functionBudget, "comments of functions without a verb: a lower number is the new budget")
}

var noun = regexp.MustCompile(`^\w+ (is|are) `)

// nouns lists the functions of a file whose comment says what they are, and not what they do.
func nouns(t *testing.T, file string, text []byte) []string {
	t.Helper()
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, text, parser.ParseComments|parser.SkipObjectResolution)
	require.NoError(t, err)
	var found []string
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if ok && f.Doc != nil && noun.MatchString(f.Doc.Text()) {
			found = append(found, set.Position(f.Pos()).String())
		}
	}
	return found
}
