package wire

import "fmt"

// MaxDepth is how deep a JSON text may be nested.
const MaxDepth = 64

// Bounded looks at a JSON text before anything is made of it, without allocating: its depth, and how many values it holds. A text of
// two bytes a value becomes a tree of thirty, or of a list of structs hundreds. It returns an error for a text beyond the limits; the
// decoder checks whether it is JSON at all.
func Bounded(text []byte, maxValues int) error {
	depth, values := 0, 1
	inText := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == '{' || c == '[':
			if depth++; depth > MaxDepth {
				return fmt.Errorf("more than %d levels of JSON", MaxDepth)
			}
			values++
		case c == '}' || c == ']':
			depth--
		case c == ',' || c == ':':
			values++
		}
	}
	if values > maxValues {
		return fmt.Errorf("require JSON of at most %d values, found %d", maxValues, values)
	}
	return nil
}
