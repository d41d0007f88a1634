package redact

import (
	"encoding/json"
	"net/url"
	"strings"
)

// JSON replaces the secrets in a JSON object; a text that cannot be read is left out.
func JSON(text string) string {
	if text == "" {
		return ""
	}
	var tree map[string]any
	if json.Unmarshal([]byte(text), &tree) != nil {
		return ""
	}
	out, err := json.Marshal(Tree(tree))
	if err != nil {
		return ""
	}
	return string(out)
}

// Tree replaces the secrets in a tree of JSON or YAML, by the names of values and in addresses. It changes the tree.
func Tree(tree any) any {
	switch node := tree.(type) {
	case map[string]any:
		for name, value := range node {
			switch value.(type) {
			case map[string]any, []any, bool, nil:
				node[name] = Tree(value)
			default: // a text or a number
				if node[name] = Tree(value); Name(name) {
					node[name] = Mark
				}
			}
		}
	case []any:
		for i, value := range node {
			node[i] = Tree(value)
		}
	case string:
		return Address(node)
	}
	return tree
}

// Address replaces the password of an address.
func Address(address string) string {
	if !strings.Contains(address, "@") {
		return address
	}
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return address
	}
	return u.Redacted()
}
