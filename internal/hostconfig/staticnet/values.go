package staticnet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// number is a whole number of NMState, which accepts it in quotes as well.
type number int64

func (n *number) UnmarshalJSON(text []byte) error {
	digits, base := strings.Trim(string(text), `"`), 10
	if hex, found := strings.CutPrefix(digits, "0x"); found {
		digits, base = hex, 16
	}
	value, err := strconv.ParseInt(digits, base, 64)
	if err != nil {
		return fmt.Errorf("require a whole number, found %s", text)
	}
	*n = number(value)
	return nil
}

func (n number) text() string { return strconv.FormatInt(int64(n), 10) }

// flag is a boolean of NMState, which takes words and numbers as well.
type flag bool

func (f *flag) UnmarshalJSON(text []byte) error {
	value, known := words[strings.ToLower(strings.Trim(string(text), `"`))]
	if !known {
		return fmt.Errorf("require true or false, found %s", text)
	}
	*f = flag(value)
	return nil
}

var words = map[string]bool{
	"true": true, "yes": true, "on": true, "y": true, "1": true,
	"false": false, "no": false, "off": false, "n": false, "0": false,
}

func (f flag) text() string { return strconv.FormatBool(bool(f)) }

func (f *flag) is(value bool) bool { return f != nil && bool(*f) == value }

// option is a setting that is passed on unchanged: its valid values, and NetworkManager's name for it (the same when it is empty).
type option struct {
	value kindOfValue
	name  string
}

// kindOfValue reads a value of NMState and gives NetworkManager's.
type kindOfValue func(value any) (string, error)

// convertOptions gives the options that a table knows, and refuses others by their path.
func convertOptions(at string, options map[string]any, table map[string]option, set func(name, value string)) error {
	for _, key := range sortedKeys(options) {
		known, found := table[key]
		if !found {
			return unsupported(at+"."+key, "")
		}
		value, err := known.value(options[key])
		if err != nil {
			return fmt.Errorf("%s.%s: %w", at, key, err)
		}
		name := known.name
		if name == "" {
			name = key
		}
		set(name, value)
	}
	return nil
}

// upTo accepts a number from 0 to a limit.
func upTo(limit int64) kindOfValue { return between(0, limit) }

func between(least, most int64) kindOfValue {
	return func(value any) (string, error) {
		n, err := decode[number](value)
		if err != nil || int64(n) < least || int64(n) > most {
			return "", fmt.Errorf("require %d to %d, found %v", least, most, value)
		}
		return n.text(), nil
	}
}

// trueFalse reads a boolean that NetworkManager writes as a word.
func trueFalse(value any) (string, error) {
	f, err := decode[flag](value)
	if err != nil {
		return "", fmt.Errorf("require true or false, found %v", value)
	}
	return f.text(), nil
}

// oneZero reads a boolean that NetworkManager writes as a number.
func oneZero(value any) (string, error) {
	text, err := trueFalse(value)
	return map[string]string{"true": "1", "false": "0"}[text], err
}

// oneOf accepts one of some words or its number in their order, as the kernel counts them.
func oneOf(names ...string) kindOfValue {
	return func(value any) (string, error) {
		text := strings.ToLower(fmt.Sprint(value))
		if slices.Contains(names, text) {
			return text, nil
		}
		if n, err := strconv.Atoi(text); err == nil && n >= 0 && n < len(names) {
			return names[n], nil
		}
		return "", fmt.Errorf("require one of %s, found %q", strings.Join(names, ", "), fmt.Sprint(value))
	}
}

func macAddress(value any) (string, error) {
	text, _ := value.(string)
	if !isMAC(text) {
		return "", fmt.Errorf("require a MAC address, found %q", fmt.Sprint(value))
	}
	return strings.ToUpper(text), nil
}

// isMAC reports whether a text is an Ethernet address as in keyfiles: six bytes with colons.
func isMAC(text string) bool {
	mac, err := net.ParseMAC(text)
	return err == nil && len(mac) == 6 && strings.Count(text, ":") == 5
}

// ofOne distinguishes the address of an interface from group addresses, and from the loopback's address, which every machine would take
// for its own. The text is a MAC address.
func ofOne(text string) bool {
	mac, _ := net.ParseMAC(text)
	return mac[0]&1 == 0 && !bytes.Equal(mac, make([]byte, len(mac)))
}

// plain matches texts that are safe in keyfiles without escapes, and in shells.
var plain = regexp.MustCompile(`^[A-Za-z0-9_.:+@-]{1,255}$`)

func decode[T any](value any) (T, error) {
	var out T
	text, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	return out, err
}
