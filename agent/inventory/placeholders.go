package inventory

import (
	"net"
	"slices"
	"strings"
	"unicode"

	"github.com/google/uuid"
)

// fillers are the words that makers write into a serial number's place, in lower case. A text is a placeholder when it has no
// other words: "Unspecified Base Board Serial Number".
var fillers = []string{
	"a", "as", "applicable", "asset", "available", "be", "base", "baseboard", "blank", "board", "bsn", "by", "chassis", "default", "defined",
	"dummy", "e", "empty", "filled", "id", "invalid", "known", "m", "mainboard", "manufacturer", "mb", "motherboard", "n", "na", "nil", "no",
	"none", "not", "null", "num", "numb", "number", "o", "oem", "of", "part", "pca", "acc", "placeholder", "present", "product", "programmed",
	"reserved", "s", "sample", "ser", "serial", "sernum", "set", "settable", "sn", "specified", "ssn", "string", "system", "tag", "tbd",
	"test", "the", "to", "type", "unavailable", "undefined", "uninitialized", "unknow", "unknown", "unprogrammed", "unset", "unspecified",
	"unused", "value", "void", "xxx",
}

// placeholderSerial reports whether a serial number cannot tell machines apart: it is empty, one character repeated, all digits
// or letters in counting order, or made of words for "none", beside which digits say no more.
func placeholderSerial(serial string) bool {
	text := strings.TrimPrefix(strings.ToLower(serial), "0x")
	plain, letters, digits := only(text, unicode.IsLetter, unicode.IsDigit), only(text, unicode.IsLetter), only(text, unicode.IsDigit)
	switch {
	case repeats(plain):
		return true
	case letters == "":
		return !strings.Contains(text, "-") && counts(digits) // "123-456-789" has the form of a maker's number
	case onlyFillers(text):
		return meaningless(digits, len(letters))
	}
	return counts(plain) && !strings.Contains(text, "-")
}

// only keeps the characters of some classes.
func only(text string, classes ...func(rune) bool) string {
	return strings.Map(func(r rune) rune {
		if slices.ContainsFunc(classes, func(is func(rune) bool) bool { return is(r) }) {
			return r
		}
		return -1
	}, text)
}

const (
	// leastCounted is the shortest text that counts as a sequence.
	leastCounted = 6
	// leastRepeated is the shortest number beside words that counts as a repeated digit, as in "SN0000".
	leastRepeated = 4
	// shortNumber and longWords say which numbers belong to words, as in "Type2 - Board Serial Number"; "MB12" is a serial number.
	shortNumber, longWords = 2, 6
)

// meaningless reports whether digits beside words for "none" tell no machines apart; letters is how many letters the words have.
func meaningless(digits string, letters int) bool {
	return strings.Trim(digits, "0") == "" || counts(digits) && letters > 1 || len(digits) >= leastRepeated && repeats(digits) ||
		len(digits) <= shortNumber && letters >= longWords
}

// repeats reports whether a text has at most one different character.
func repeats(text string) bool {
	return text == "" || strings.Trim(text, text[:1]) == ""
}

// counts reports whether each character follows the one before, as in 0123456789 and 1234567890, or each precedes it.
func counts(text string) bool {
	return len(text) >= leastCounted && (ascends(text) || descends(text))
}

func ascends(text string) bool {
	for n := 1; n < len(text); n++ {
		if text[n] != text[n-1]+1 && (text[n-1] != '9' || text[n] != '0' && text[n] != 'a') {
			return false
		}
	}
	return true
}

func descends(text string) bool {
	for n := 1; n < len(text); n++ {
		if text[n] != text[n-1]-1 && (text[n-1] != '0' || text[n] != '9') {
			return false
		}
	}
	return true
}

// onlyFillers reports whether all letters of a text are fillers, also without spaces between them: "ToBeFilledByO.E.M.".
func onlyFillers(text string) bool {
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
	return !slices.ContainsFunc(words, func(word string) bool { return !joined(word) })
}

// joined reports whether a word is a filler, fillers of two letters or more without spaces, or one letter repeated.
func joined(word string) bool {
	if slices.Contains(fillers, word) || len(word) >= leastRepeated && repeats(word) {
		return true
	}
	for _, filler := range fillers {
		if rest, found := strings.CutPrefix(word, filler); found && len(filler) > 1 && rest != "" && joined(rest) {
			return true
		}
	}
	return false
}

// sharedUUIDs are the UUIDs that firmware gives to more than one machine, next to UUIDs with a pattern.
var sharedUUIDs = []uuid.UUID{
	uuid.MustParse("03000200-0400-0500-0006-000700080009"),
	uuid.MustParse("00020003-0004-0005-0006-000700080009"), // the same in the other byte order
	uuid.MustParse("12345678-1234-5678-90ab-cddeefaabbcc"),
	uuid.MustParse("4c4c4544-0000-2010-8020-80c04f202020"), // Dell without a service tag
	uuid.MustParse("4c4c4544-0020-2010-8020-a0c04f202020"), // the same with a tag of spaces
}

// fewDigits is how many different digits a pattern has at most.
const fewDigits = 2

// placeholderUUID reports whether a product's UUID cannot tell machines apart: it is known to be shared, has few different digits,
// repeats its bytes, counts with them, or each of its groups repeats a digit or counts.
func placeholderUUID(id uuid.UUID) bool {
	groups := strings.Split(id.String(), "-")
	different := slices.Compact(slices.Sorted(slices.Values([]byte(strings.Join(groups, "")))))
	step := id[1] - id[0]
	progresses, periodic := true, true
	for n := 1; n < len(id); n++ {
		progresses = progresses && id[n]-id[n-1] == step
		periodic = periodic && id[n] == id[n%4]
	}
	plain := !slices.ContainsFunc(groups, func(group string) bool { return !repeats(group) && !ascends(group) && !descends(group) })
	return slices.Contains(sharedUUIDs, id) || len(different) <= fewDigits || progresses || periodic || plain
}

// placeholderMAC reports whether a MAC address cannot tell machines apart: a NIC with an empty memory has zeros or a group address.
func placeholderMAC(mac net.HardwareAddr) bool {
	return mac[0]&1 != 0 || !slices.ContainsFunc(mac, func(b byte) bool { return b != 0 })
}

// chosen reports whether somebody but the maker chose a MAC address (IEEE 802, the local bit). The port to the management controller of
// many servers has such an address, the same in all of them.
func chosen(mac net.HardwareAddr) bool { return mac[0]&2 != 0 }
