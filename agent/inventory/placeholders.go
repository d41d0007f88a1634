package inventory

import (
	"slices"
	"strings"
	"unicode"

	"github.com/google/uuid"
)

// fillers are the words that makers write into a serial number's place, in lower case. A text is a placeholder when it has no
// other words: "Unspecified Base Board Serial Number".
var fillers = []string{
	"a", "as", "applicable", "asset", "available", "be", "base", "baseboard", "board", "by", "chassis", "default", "defined", "e",
	"empty", "filled", "id", "invalid", "m", "mainboard", "mb", "motherboard", "n", "na", "nil", "no", "none", "not", "null", "num",
	"number", "o", "oem", "of", "pca", "acc", "placeholder", "present", "product", "serial", "sernum", "set", "sn", "specified", "string",
	"system", "tag", "tbd", "the", "to", "undefined", "uninitialized", "unknown", "unset", "unspecified", "unused", "value", "xxx",
}

// placeholderSerial reports whether a serial number cannot tell machines apart: it is empty, one character repeated, all digits
// or letters in counting order, or made of words for "none" only.
func placeholderSerial(serial string) bool {
	if strings.Contains(serial, "-") && strings.IndexFunc(serial, unicode.IsDigit) >= 0 {
		return onlyZeros(serial) // "123-456-789" has the form of a maker's number
	}
	plain := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, serial)
	return repeats(plain) || counts(plain) || onlyFillers(serial)
}

func onlyZeros(text string) bool { return strings.Trim(text, "0- ") == "" }

// repeats reports whether a text has at most one different character.
func repeats(text string) bool {
	return text == "" || strings.Trim(text, text[:1]) == ""
}

// leastCounted is the shortest text that counts as a sequence.
const leastCounted = 6

// counts reports whether each character follows the one before, as in 0123456789 and 1234567890.
func counts(text string) bool {
	if len(text) < leastCounted {
		return false
	}
	for n := 1; n < len(text); n++ {
		if text[n] != text[n-1]+1 && (text[n-1] != '9' || text[n] != '0' && text[n] != 'a') {
			return false
		}
	}
	return true
}

func onlyFillers(text string) bool {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return !slices.ContainsFunc(words, func(word string) bool { return !slices.Contains(fillers, word) })
}

// sharedUUIDs are the UUIDs that firmware gives to more than one machine, next to UUIDs of one repeated digit.
var sharedUUIDs = []uuid.UUID{
	uuid.MustParse("03000200-0400-0500-0006-000700080009"),
	uuid.MustParse("00020003-0004-0005-0006-000700080009"), // the same in the other byte order
}

// placeholderUUID reports whether a product's UUID cannot tell machines apart.
func placeholderUUID(id uuid.UUID) bool {
	digits := strings.ReplaceAll(id.String(), "-", "")
	return repeats(digits) || counts(digits[:16]) || slices.Contains(sharedUUIDs, id)
}
