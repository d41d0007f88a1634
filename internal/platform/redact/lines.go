package redact

import "strings"

// keyLines bounds how many lines a private key has: an RSA key of 16,384 bits has 200.
const keyLines = 220

// Lines works as Text for a log of many lines: a line is looked at alone, a private key as a whole. It takes the time of a copy where lines
// have no word of a secret.
func Lines(text string) string {
	var out strings.Builder
	changed, kept := false, 0 // what stands before kept is in out
	for at := 0; at < len(text); {
		end := lineEnd(text, at)
		if line := text[at:end]; suspicious(line) {
			if beginsKey(line) {
				end = keyEnd(text, end)
			}
			if clean := Text(text[at:end]); clean != text[at:end] {
				out.WriteString(text[kept:at])
				out.WriteString(clean)
				changed, kept = true, end
			}
		}
		at = end
	}
	if !changed {
		return text
	}
	out.WriteString(text[kept:])
	return out.String()
}

// lineEnd returns where the next line begins.
func lineEnd(text string, at int) int {
	if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
		return at + n + 1
	}
	return len(text)
}

// beginsKey reports whether a private key begins on a line and does not end there.
func beginsKey(line string) bool {
	_, rest, found := strings.Cut(line, "-----BEGIN ")
	return found && strings.Contains(rest, "PRIVATE KEY") && !strings.Contains(rest, "-----END ")
}

// keyEnd returns where the line after a private key begins, whose second line begins at a place.
func keyEnd(text string, at int) int {
	for range keyLines {
		if at == len(text) {
			break
		}
		next := lineEnd(text, at)
		if strings.Contains(text[at:next], "-----END ") {
			return next
		}
		at = next
	}
	return at
}
