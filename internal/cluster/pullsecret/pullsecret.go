// Package pullsecret reads pull secrets as the container tools do (containers-auth.json(5); containers/image, pkg/docker/config), and
// refuses pull secrets that openshift-install refuses (openshift/installer, pkg/validate). Its errors contain no part of a secret.
package pullsecret

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Entry holds the credentials for a registry, or for a part of one. All fields are empty where a registry asks for none, or
// where a program of the machine that wrote the entry keeps them.
type Entry struct {
	User, Password string
	IdentityToken  string // exchanged for tokens of the registry
	RegistryToken  string // sent to the registry
}

// Secret maps registries, "quay.io", and parts of them, "quay.io/ocp/release", to their entries.
type Secret map[string]Entry

// written is an entry as JSON has it.
type written struct {
	Auth          string `json:"auth"`
	Username      other  `json:"username"`
	Password      other  `json:"password"`
	IdentityToken string `json:"identitytoken"`
	RegistryToken string `json:"registrytoken"`
}

// other is a text that the container tools do not read; a value of another kind counts as none.
type other string

// UnmarshalJSON implements json.Unmarshaler.
func (o *other) UnmarshalJSON(content []byte) error {
	var text string
	if json.Unmarshal(content, &text) != nil {
		text = ""
	}
	*o = other(text)
	return nil
}

// Check parses a pull secret, and returns an error also for text that openshift-install does not take: each entry must have
// auth or credsStore, which may be empty.
func Check(text string) (Secret, error) {
	secret, err := Parse(text)
	if err != nil {
		return nil, err
	}
	var keys struct {
		Auths map[string]map[string]json.RawMessage `json:"auths"`
	}
	if err := json.Unmarshal([]byte(text), &keys); err != nil {
		return nil, errors.New("must be a JSON object with auths")
	}
	if len(keys.Auths) == 0 {
		return nil, errors.New("auths must have at least one registry")
	}
	for _, registry := range slices.Sorted(maps.Keys(keys.Auths)) {
		entry := keys.Auths[registry]
		if _, ok := entry["auth"]; ok {
			continue
		}
		if _, ok := entry["credsStore"]; !ok {
			return nil, fmt.Errorf("the entry of %q must have auth or credsStore", registry)
		}
	}
	return secret, nil
}

// Parse reads the entries of a pull secret.
func Parse(text string) (Secret, error) {
	auths, err := read(text)
	if err != nil {
		return nil, errors.New("must be a JSON object with auths")
	}
	secret, exact := Secret{}, map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(auths)) {
		entry, err := auths[key].entry()
		if err != nil {
			return nil, fmt.Errorf("auth of %q must be %w", key, err)
		}
		// Of several spellings of a registry the exact one decides, then one with credentials.
		name := canonical(key)
		have, known := secret[name]
		if name == key || !known || !exact[name] && have == (Entry{}) {
			secret[name] = entry
		}
		exact[name] = exact[name] || name == key
	}
	return secret, nil
}

func read(text string) (map[string]written, error) {
	var all struct {
		Auths map[string]written `json:"auths"`
	}
	err := json.Unmarshal([]byte(text), &all)
	return all.Auths, err
}

// Formats of an auth that is not empty.
var (
	errBase64 = errors.New("base64")
	errColon  = errors.New("user:password")
)

func (w written) entry() (Entry, error) {
	e := Entry{User: string(w.Username), Password: string(w.Password), IdentityToken: w.IdentityToken, RegistryToken: w.RegistryToken}
	if w.Auth == "" {
		return e, nil
	}
	plain, err := base64.StdEncoding.DecodeString(w.Auth)
	if err != nil {
		return e, errBase64
	}
	user, password, ok := strings.Cut(strings.TrimSpace(string(plain)), ":")
	if !ok {
		return e, errColon
	}
	e.User, e.Password = user, strings.Trim(password, "\x00")
	return e, nil
}

// Find returns the entry of an image or a repository: the key with the longest path that holds it decides, and its absence is
// reported.
func (s Secret) Find(image string) (Entry, bool) {
	for path := canonical(repository(image)); path != ""; {
		if e, ok := s[path]; ok {
			return e, true
		}
		path = path[:max(strings.LastIndexByte(path, '/'), 0)]
	}
	return Entry{}, false
}

// repository returns the name of an image without its tag and digest.
func repository(image string) string {
	image, _, _ = strings.Cut(image, "@")
	slash, colon := strings.LastIndexByte(image, '/'), strings.LastIndexByte(image, ':')
	if slash >= 0 && colon > slash { // before a slash it begins a port
		return image[:colon]
	}
	return image
}

// canonical returns the one spelling of a key: older tools write addresses, of which only the host counts, and Docker's
// registry has three names.
func canonical(key string) string {
	name := strings.TrimPrefix(strings.TrimPrefix(key, "https://"), "http://")
	if name != key {
		name, _, _ = strings.Cut(name, "/")
	}
	for _, suffix := range []string{"/", "/v2", "/v1"} {
		name = strings.TrimSuffix(name, suffix)
	}
	host, path, inside := strings.Cut(name, "/")
	if host == "index.docker.io" || host == "registry-1.docker.io" {
		host = "docker.io"
	}
	if inside {
		return host + "/" + path
	}
	return host
}

// Words returns the texts of a pull secret that open registries, in each form in which programs print them. It reads as much
// of damaged text as it can.
func Words(text string) []string {
	var all struct {
		Auths map[string]json.RawMessage `json:"auths"`
	}
	if json.Unmarshal([]byte(text), &all) != nil {
		return nil
	}
	var words []string
	for _, raw := range all.Auths {
		var w written
		_ = json.Unmarshal(raw, &w) // fields of other types are skipped
		words = append(words, w.Auth, string(w.Password), w.IdentityToken, w.RegistryToken)
		if plain, err := base64.StdEncoding.DecodeString(w.Auth); err == nil {
			_, password, _ := strings.Cut(string(plain), ":")
			words = append(words, string(plain), password, strings.TrimSpace(password))
		}
	}
	slices.Sort(words)
	return slices.DeleteFunc(slices.Compact(words), func(w string) bool { return w == "" })
}
