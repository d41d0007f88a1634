package redact

// suspicious reports whether a text has a word that the forms of secrets begin with. It looks at each byte once and allocates nothing: most
// lines of a log end here.
func suspicious(text string) bool {
	address := false
	for i := range len(text) {
		switch text[i] | 0x20 { // lower case of letters; the others are compared below
		case 'p':
			if has(text[i:], "passw") || has(text[i:], "passphrase") || has(text[i:], "private") || has(text[i:], "psk") ||
				has(text[i:], "preshared") || has(text[i:], "pre-shared") {
				return true
			}
		case 's':
			if has(text[i:], "secret") {
				return true
			}
		case 't':
			if has(text[i:], "token") {
				return true
			}
		case 'c':
			if has(text[i:], "credential") || has(text[i:], "cookie") || has(text[i:], "client-key-data") {
				return true
			}
		case 'a':
			if has(text[i:], "auth") {
				return true
			}
		case 'b':
			if has(text[i:], "bearer ") {
				return true
			}
		case 'x':
			if has(text[i:], "x-") {
				return true
			}
		case 'e':
			if has(text[i:], "eyj") {
				return true
			}
		case 'i':
			if has(text[i:], "iscsi:") {
				return true
			}
		case 'l':
			if has(text[i:], "ls0tls1crudjti") {
				return true
			}
		case ':':
			address = address || has(text[i:], "://")
		case '@' | 0x20: // a back quote too, which costs a look
			if address {
				return true
			}
		}
	}
	return false
}

// has reports whether a text begins with a word of lower case, in any case.
func has(text, word string) bool {
	if len(text) < len(word) {
		return false
	}
	for i := range len(word) {
		b := text[i]
		if 'A' <= b && b <= 'Z' {
			b |= 0x20
		}
		if b != word[i] {
			return false
		}
	}
	return true
}

// contains reports whether a text has a word of lower case in it, in any case.
func contains(text, word string) bool {
	for i := range len(text) - len(word) + 1 {
		if text[i]|0x20 == word[0]|0x20 && has(text[i:], word) {
			return true
		}
	}
	return false
}
