package arch_test

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// page holds the names of a page that can be cited and its anchors for links.
type page struct{ names, anchors map[string]bool }

var (
	heading  = regexp.MustCompile(`(?m)^#+ (.+)$`)
	bold     = regexp.MustCompile(`\*\*(.+?)\.?\*\*`)
	fenced   = regexp.MustCompile("(?ms)^```.*?^```$")
	code     = regexp.MustCompile("`[^`\n]*`")
	link     = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	citation = regexp.MustCompile(`docs/([\w./-]+\.md)((?:,? (?:and )?"[^"\n]+")*)`)
	quoted   = regexp.MustCompile(`"([^"]+)"`)
	notInURL = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	// outside matches references that no clone can follow: folders of facts and reports, and rows of their tables.
	outside = regexp.MustCompile(`contract[/]|reviews[/]|(?i:\brows? [0-9]+)`)
)

func readPage(text string) page {
	p := page{map[string]bool{}, map[string]bool{}}
	text = fenced.ReplaceAllString(text, "")
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		name := strings.ReplaceAll(m[1], "`", "")
		p.names[name] = true
		p.anchors[strings.ReplaceAll(notInURL.ReplaceAllString(strings.ToLower(name), ""), " ", "-")] = true
	}
	for _, m := range bold.FindAllStringSubmatch(text, -1) {
		p.names[m[1]] = true
	}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		for cell := range strings.SplitSeq(line, "|") {
			name, _, _ := strings.Cut(strings.ReplaceAll(strings.TrimSpace(cell), "`", ""), ": ")
			p.names[name] = true
		}
	}
	return p
}

// documentFaults lists the citations and links of a tree that lead nowhere.
func documentFaults(tree fs.FS) ([]string, error) {
	pages, sources := map[string]string{}, map[string]string{}
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		hidden := name != "." && strings.HasPrefix(entry.Name(), ".")
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (hidden || entry.Name() == "node_modules" || name == "bin" || name == "dist"):
			return fs.SkipDir
		case entry.IsDir() || !slices.Contains([]string{".go", ".md"}, path.Ext(name)):
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if path.Ext(name) == ".go" {
			sources[name] = string(text)
		} else {
			pages[name] = string(text)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	known := map[string]page{}
	for name, text := range pages {
		known[name] = readPage(text)
	}
	var out []string
	for name, text := range sources {
		out = append(out, outsideFaults(name, text)...)
		out = append(out, citationFaults(name, comments(text), known)...)
	}
	for name, text := range pages {
		out = append(out, linkFaults(tree, name, text, known)...)
		if strings.HasPrefix(name, "docs/") {
			out = append(out, outsideFaults(name, text)...)
			out = append(out, citationFaults(name, text, known)...)
		}
	}
	slices.Sort(out)
	return out, nil
}

func outsideFaults(name, text string) []string {
	if found := outside.FindString(text); found != "" {
		return []string{name + ": cite a rule by its name and page, not by " + found}
	}
	return nil
}

// comments returns the comments of a Go file, with spaces instead of line ends.
func comments(text string) string {
	var s scanner.Scanner
	set := token.NewFileSet()
	s.Init(set.AddFile("", set.Base(), len(text)), []byte(text), nil, scanner.ScanComments)
	var out []string
	for {
		_, kind, literal := s.Scan()
		if kind == token.EOF {
			return strings.Join(out, " ")
		}
		if kind == token.COMMENT {
			out = append(out, strings.Fields(strings.TrimPrefix(literal, "//"))...)
		}
	}
}

func citationFaults(name, text string, known map[string]page) []string {
	var out []string
	for _, m := range citation.FindAllStringSubmatch(text, -1) {
		cited, ok := known["docs/"+m[1]]
		if !ok {
			out = append(out, name+": no page docs/"+m[1])
			continue
		}
		for _, rule := range quoted.FindAllStringSubmatch(m[2], -1) {
			if !cited.names[rule[1]] {
				out = append(out, name+": docs/"+m[1]+" has no heading, bold term or cell "+rule[0])
			}
		}
	}
	return out
}

func linkFaults(tree fs.FS, name, text string, known map[string]page) []string {
	var out []string
	text = code.ReplaceAllString(fenced.ReplaceAllString(text, ""), "")
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		target, anchor, _ := strings.Cut(m[1], "#")
		if strings.Contains(target, ":") {
			continue // elsewhere
		}
		at := name
		if target != "" {
			at = path.Join(path.Dir(name), target)
		}
		if _, err := fs.Stat(tree, at); err != nil {
			out = append(out, name+": no file for the link "+m[1])
		} else if anchor != "" && !known[at].anchors[anchor] {
			out = append(out, name+": no heading for the link "+m[1])
		}
	}
	return out
}

func TestCitationsAndLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	faults, err := documentFaults(os.DirFS("../../.."))
	require.NoError(t, err)
	require.Empty(t, faults, strings.Join(faults, "\n"))
}

func TestCitationsAndLinksThatLeadNowhereAreFound(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		file, text, fault string
	}{
		"good citation":          {"a.go", "// x (docs/a.md, \"Some rule\").", ""},
		"good citation, wrapped": {"a.go", "\t// x (docs/a.md, \"Some\n\t// rule\" and \"Bold term\").", ""},
		"good cell":              {"a.go", "// docs/a.md, \"Row name\"", ""},
		"good links":             {"docs/b.md", "[a](a.md#some-rule) [b](#here) [out](https://example.com/x.md)\n# Here\n", ""},
		"no page":                {"a.go", "// docs/c.md", "a.go: no page docs/c.md"},
		"no rule":                {"a.go", "// docs/a.md, \"Other\"", `a.go: docs/a.md has no heading, bold term or cell "Other"`},
		"no second rule": {
			"a.go", "// docs/a.md, \"Some rule\" and \"Other\"", `a.go: docs/a.md has no heading, bold term or cell "Other"`,
		},
		"folder outside": {"a.go", "// contract" + "/states.md", "a.go: cite a rule by its name and page, not by contract" + "/"},
		"folder outside in a page": {
			"docs/b.md", "see contract" + "/x", "docs/b.md: cite a rule by its name and page, not by contract" + "/",
		},
		"report outside":         {"a.go", "// reviews" + "/security.md 8", "a.go: cite a rule by its name and page, not by reviews" + "/"},
		"number of a row":        {"a.go", "// rows " + "12 and 13", "a.go: cite a rule by its name and page, not by rows " + "12"},
		"link without a file":    {"docs/b.md", "[c](c.md)", "docs/b.md: no file for the link c.md"},
		"link without a heading": {"docs/b.md", "[a](a.md#other)", "docs/b.md: no heading for the link a.md#other"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			faults, err := documentFaults(fstest.MapFS{
				"docs/a.md": {Data: []byte("# Some rule\n**Bold term.** Text.\n| Row name: why | x |\n")},
				test.file:   {Data: []byte(test.text)},
			})
			require.NoError(t, err)
			if test.fault == "" {
				require.Empty(t, faults)
			} else {
				require.Equal(t, []string{test.fault}, faults)
			}
		})
	}
}
