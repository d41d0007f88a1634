package docpage

import (
	"regexp"
	"slices"
	"strings"
)

// columns is the length of a line of prose (internal/testing/words holds it for all pages).
const columns = 140

// unbroken finds what stays on one line: a span of code, a link, or a word.
var unbroken = regexp.MustCompile("(?:`[^`]*`|\\[[^\\]]*\\]\\([^)]*\\)|[^ ])+")

// begins finds lines that belong to no paragraph, and the first lines of list items.
var begins = regexp.MustCompile(`^\s*([|#<>]|$|[-*] |\d+\. )`)

// wrap fills the paragraphs that have a line of more than columns. Tables and code stay as they are.
func wrap(text string) string {
	var out, paragraph []string
	flush := func() {
		if slices.ContainsFunc(paragraph, func(line string) bool { return len(line) > columns }) {
			paragraph = fill(paragraph)
		}
		out, paragraph = append(out, paragraph...), nil
	}
	code := false
	for line := range strings.SplitSeq(text, "\n") {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		item := begins.FindStringSubmatch(line)
		if code || fence || item != nil {
			flush()
		}
		code = code != fence
		if code || fence || item != nil && !strings.HasSuffix(item[1], " ") {
			out = append(out, line)
		} else {
			paragraph = append(paragraph, line)
		}
	}
	flush()
	return strings.Join(out, "\n")
}

// fill breaks the words of a paragraph, or of a list item, into lines.
func fill(paragraph []string) []string {
	mark := begins.FindString(paragraph[0])
	indent := strings.Repeat(" ", len(mark))
	out, line := []string(nil), mark
	for i, word := range unbroken.FindAllString(strings.TrimPrefix(strings.Join(paragraph, " "), mark), -1) {
		switch {
		case i > 0 && len(line)+1+len(word) > columns:
			out, line = append(out, line), indent+word
		case i > 0:
			line += " " + word
		default:
			line += word
		}
	}
	return append(out, line)
}
