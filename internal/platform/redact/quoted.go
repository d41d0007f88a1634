package redact

import (
	"regexp"
	"strings"
)

// member matches a name in quotes, and what stands before its value. The quotes of JSON in JSON have backslashes.
var member = regexp.MustCompile(`(?i)(\\*)["']` + named + `(\\*)["']\s*[:=]\s*`)

// quoted replaces the values of secret members in JSON, whose quotes may be escaped.
func quoted(text string) string {
	if !strings.ContainsAny(text, `"'`) || !strings.ContainsAny(text, ":=") {
		return text
	}
	found := member.FindAllStringIndex(text, -1)
	if found == nil {
		return text
	}
	var out strings.Builder
	last := 0
	for _, match := range found {
		if match[0] < last {
			continue // within a value that was replaced
		}
		begin, end, isText := valueAt(text, match[1])
		if begin == end || !isText && !scalar(text[begin:end]) {
			continue
		}
		begin, end, more := whole(text, begin, end)
		if !more || begin < last {
			continue
		}
		out.WriteString(text[last:begin])
		if isText {
			out.WriteString(Mark)
		} else {
			out.WriteString(`"` + Mark + `"`)
		}
		last = end
	}
	out.WriteString(text[last:])
	return out.String()
}

// valueAt returns where the value that begins at a place stands, without its quotes, and whether it has some. An object or a list is none.
func valueAt(text string, at int) (begin, end int, isText bool) {
	rest := text[at:]
	depth := len(rest) - len(strings.TrimLeft(rest, `\`))
	if depth < len(rest) && (rest[depth] == '"' || rest[depth] == '\'') {
		begin = at + depth + 1
		return begin, begin + closing(text[begin:], rest[depth], depth), true
	}
	if rest == "" || strings.ContainsRune("{[", rune(rest[0])) {
		return at, at, false
	}
	length := strings.IndexAny(rest, " \t\r\n,}])\\\"'")
	if length < 0 {
		length = len(rest)
	}
	return at, at + length, false
}

// closing returns the length of a value up to its closing quote, which has depth backslashes before it: 0, 1, 3, 7. Quotes within the value
// have more; backslashes at its end come in pairs of that level. A value that is cut ends with the text.
func closing(text string, quote byte, depth int) int {
	slashes := 0
	for i := range len(text) {
		switch text[i] {
		case '\\':
			slashes++
			continue
		case quote:
			if slashes < depth || (slashes-depth)%(2*(depth+1)) == 0 {
				return i - min(slashes, depth)
			}
		}
		slashes = 0
	}
	return len(text)
}
