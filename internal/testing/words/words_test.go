package words_test

import (
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../../../"

// finding is one use of a word of the list.
type finding struct {
	file, found, instead string
	line                 int
}

func (f finding) String() string {
	return fmt.Sprintf("%s:%d: %q: write %s", f.file, f.line, f.found, f.instead)
}

func TestTextsAndNamesUseThePlainWordsOfTheField(t *testing.T) {
	t.Parallel()
	used := map[exception]bool{}
	for _, file := range files(t) {
		text, err := os.ReadFile(root + file)
		require.NoError(t, err)
		for _, f := range check(file, text) {
			if e, ok := excepted(f); ok {
				used[e] = true
			} else {
				t.Error(f)
			}
		}
	}
	for _, e := range exceptions {
		require.True(t, used[e], "the exception for %q in %s is not needed", e.found, e.file)
		require.NotEmpty(t, e.why, "the exception for %s has no reason", e.file)
	}
}

// TestLinesOfPagesAreShort counts columns of prose: a row of a table cannot be broken, and code is shown as it is typed.
func TestLinesOfPagesAreShort(t *testing.T) {
	t.Parallel()
	const columns = 140
	for _, file := range files(t) {
		if !strings.HasSuffix(file, ".md") {
			continue
		}
		text, err := os.ReadFile(root + file)
		require.NoError(t, err)
		code := false
		for i, line := range strings.Split(string(text), "\n") {
			code = code != strings.HasPrefix(strings.TrimSpace(line), "```")
			if length := len([]rune(line)); !code && !strings.HasPrefix(line, "|") && length > columns {
				t.Errorf("%s:%d: require at most %d columns, found %d", file, i+1, columns, length)
			}
		}
	}
}

func TestEveryKindOfTextIsChecked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, file, text, found string }{
		{"a comment", "a.go", "package a\n\n// It waits for ever.\n", "for ever"},
		{"a comment of two lines", "a.go", "package a\n\n// It goes\n// on.\n", "goes on"},
		{"a string", "a.go", "package a\n\nconst s = \"a tool of other makes\"\n", "other makes"},
		{"a raw string", "a.go", "package a\n\nconst s = `Nobody asks`\n", "Nobody"},
		{"a name", "a.go", "package a\n\nfunc welcome() {}\n", "welcome"},
		{"a field", "a.go", "package a\n\ntype s struct{ Told func() }\n", "Told"},
		{"a call", "a.go", "package a\n\nvar e = final(nil)\n", "final"},
		{"documentation", "docs/a.md", "# Who may do what\n", "Who may do what"},
		{"a script", "deploy/a.sh", "#!/bin/sh\n# The discovery environment.\n", "discovery environment"},
		{"a settings file", "a.yaml", "a: 1 # not on offer\n", "on offer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			found := check(c.file, []byte(c.text))
			require.Len(t, found, 1)
			require.Equal(t, c.found, found[0].found)
		})
	}
}

func TestCodeIsNotTakenForText(t *testing.T) {
	t.Parallel()
	require.Empty(t, check("a.go", []byte("package a\n\ntype t struct{ nobody int; final bool }\n\nvar _ = t{}.final\n")))
	require.Empty(t, check("a.sh", []byte("su nobody -c true\n")))
}

// files returns the paths of the texts below the root, generated code and test data aside.
func files(t *testing.T) []string {
	t.Helper()
	var found []string
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains([]string{".git", "bin", "dist", "testdata", "target", "node_modules"}, d.Name()) {
			return filepath.SkipDir
		}
		rel, err := filepath.Rel(root, path)
		if err == nil && d.Type().IsRegular() && kindOf(filepath.ToSlash(rel)) != nil {
			found = append(found, filepath.ToSlash(rel))
		}
		return err
	}))
	require.Greater(t, len(found), 100)
	return found
}

// kindOf returns the check for the kind of file, nil for one that is not checked.
func kindOf(file string) func(string, []byte, []matcher) []finding {
	switch {
	case strings.HasSuffix(file, ".gen.go"), strings.HasSuffix(file, "/zz_generated.deepcopy.go"):
		return nil
	case strings.HasSuffix(file, ".go"):
		return goFile
	case strings.HasSuffix(file, ".md"):
		return func(file string, text []byte, patterns []matcher) []finding {
			return inText(file, 1, string(text), patterns)
		}
	case strings.HasSuffix(file, ".sh"), strings.HasSuffix(file, ".yaml"), strings.HasSuffix(file, ".yml"),
		filepath.Base(file) == "Makefile", filepath.Ext(file) == "" && strings.HasPrefix(file, "deploy/"), file == ".ci/run":
		return hashComments
	}
	return nil
}

func check(file string, text []byte) []finding { return textsOf(file, text, phrases) }

// textsOf finds patterns in the texts of a file.
func textsOf(file string, text []byte, patterns []matcher) []finding {
	return kindOf(file)(file, text, patterns)
}

// goFile checks comments, string literals and identifiers. Comment lines that follow each other are one text.
func goFile(file string, text []byte, patterns []matcher) []finding {
	var found []finding
	set := token.NewFileSet()
	source := set.AddFile(file, -1, len(text))
	var s scanner.Scanner
	s.Init(source, text, nil, scanner.ScanComments)
	var comment strings.Builder
	start, last, name, nameLine := 0, -1, "", 0
	flush := func() {
		found = append(found, inText(file, start, comment.String(), patterns)...)
		comment.Reset()
	}
	for {
		pos, tok, lit := s.Scan()
		line := set.Position(pos).Line
		if tok == token.COMMENT {
			if line != last+1 {
				flush()
				start = line
			}
			comment.WriteString(lit + "\n")
			last = line + strings.Count(lit, "\n")
			continue
		}
		if instead, bad := calls[name]; bad && tok == token.LPAREN {
			found = append(found, finding{file, name, instead, nameLine})
		}
		name = ""
		switch tok {
		case token.EOF:
			flush()
			return found
		case token.STRING:
			found = append(found, inText(file, line, lit, patterns)...)
		case token.IDENT:
			name, nameLine = lit, line
			if instead, bad := names[lit]; bad {
				found = append(found, finding{file, lit, instead, line})
			}
		}
	}
}

var hash = regexp.MustCompile(`(^|\s)#(.*)$`)

// hashComments checks the comments of scripts, settings and Makefiles.
func hashComments(file string, text []byte, patterns []matcher) []finding {
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		if m := hash.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			b.WriteString("#" + m[2])
		}
		b.WriteString("\n")
	}
	return inText(file, 1, b.String(), patterns)
}

// inText returns the phrases in a text that begins on the given line.
func inText(file string, first int, text string, patterns []matcher) []finding {
	var found []finding
	for _, p := range patterns {
		for _, at := range p.FindAllStringSubmatchIndex(text, -1) {
			words := strings.Join(strings.FieldsFunc(text[at[2]:at[3]], func(r rune) bool {
				return strings.ContainsRune(" \t\n/#", r)
			}), " ")
			found = append(found, finding{file, words, p.instead, first + strings.Count(text[:at[2]], "\n")})
		}
	}
	return found
}

func compiled(list []phrase) []matcher {
	all := make([]matcher, 0, len(list))
	for _, p := range list {
		words := strings.ReplaceAll(p.pattern, " ", `[\s/#]+`)
		all = append(all, matcher{regexp.MustCompile(`(?i)\b(` + words + `)(?:\b|$|[^\w])`), p.instead})
	}
	return all
}

func excepted(f finding) (exception, bool) {
	for _, e := range exceptions {
		if e.file == f.file && (e.found == "" || strings.EqualFold(e.found, f.found)) {
			return e, true
		}
	}
	return exception{}, false
}
