package api

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"slipway/api/admission"
	"slipway/internal/platform/auth"
)

// redacted stands for a secret that a caller is not to see. That there is one stays visible: the controller of a new cluster acts
// on it.
const redacted = "[redacted]"

// secretWords are in the names of values that are secret in an install-config (bmc.password, pullSecret, vcenters[].password,
// additionalTrustBundle is none) and in its overrides.
var secretWords = []string{"password", "secret", "token", "credential", "privatekey"}

// redact reports whether secrets are left out for a caller: machines need none, and viewers are not to have any.
func redact(r *http.Request) bool {
	return !slices.Contains([]auth.Role{auth.RoleAdmin, auth.RoleUser, auth.RoleKube}, admission.CallerOf(r).Role)
}

// redactedJSON replaces the secrets in a JSON object; a text that cannot be read is left out.
func redactedJSON(text string) string {
	if text == "" {
		return ""
	}
	var tree map[string]any
	if json.Unmarshal([]byte(text), &tree) != nil {
		return ""
	}
	out, err := json.Marshal(redactedTree(tree))
	if err != nil {
		return ""
	}
	return string(out)
}

func redactedTree(tree any) any {
	switch node := tree.(type) {
	case map[string]any:
		for name, value := range node {
			if _, text := value.(string); text && secretName(name) {
				node[name] = redacted
				continue
			}
			node[name] = redactedTree(value)
		}
	case []any:
		for i, value := range node {
			node[i] = redactedTree(value)
		}
	case string:
		return withoutPassword(node)
	}
	return tree
}

func secretName(name string) bool {
	name = strings.ToLower(name)
	for _, word := range secretWords {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// withoutPassword replaces the password of an address.
func withoutPassword(address string) string {
	if !strings.Contains(address, "@") {
		return address
	}
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return address
	}
	return u.Redacted()
}
