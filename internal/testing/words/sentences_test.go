package words_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shapes are sentences that hide their noun behind a pronoun, each with an example.
var shapes = []struct {
	shape   phrase
	example string
}{
	{phrase{`(?:those|that) of`, "the noun again, or a possessive"}, "its name is that of the cluster"},
	{phrase{`(?:is|are|was|were) what`, "a verb: returns, lists, decides"}, "limit is what a body may have"},
	{phrase{`(?:stays?|stayed|remains?) what (?:it|they|he)`, "is left unchanged"}, "a host that left stays what it is"},
	{phrase{`(?:something|everything|anything|nothing) else that`, "the thing itself"}, "something else that writes"},
	{phrase{`the ones? (?:that|of|with|which)`, "the noun again"}, "the one that was first"},
	{phrase{`(?:came|comes) to (?:be|an end|its end|nothing)`, "a plain verb"}, "what came to nothing"},
	{phrase{`one of (?:ours|its own|his own|theirs)`, "the noun again"}, "an agent, one of ours"},
	{phrase{`of others`, "the noun: other tenants, other implementations"}, "objects of others"},
}

func TestSentencesNameTheirNouns(t *testing.T) {
	t.Parallel()
	list := make([]phrase, len(shapes))
	for i, s := range shapes {
		list[i] = s.shape
	}
	patterns := compiled(list)
	for i, s := range shapes {
		require.NotEmpty(t, patterns[i].FindString(s.example), s.shape.pattern)
	}
	for _, file := range files(t) {
		if file == "internal/testing/words/sentences_test.go" {
			continue
		}
		text, err := os.ReadFile(root + file)
		require.NoError(t, err)
		for _, f := range textsOf(file, text, patterns) {
			if _, ok := excepted(f); !ok {
				t.Error(f)
			}
		}
		if strings.HasSuffix(file, ".go") {
			for _, f := range nouns(t, file, text) {
				t.Errorf("%s: begin the comment of a function with a verb", f)
			}
		}
	}
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
