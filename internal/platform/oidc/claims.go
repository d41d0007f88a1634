package oidc

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"slipway/internal/platform/auth"
)

// name matches the names that users and organizations may have, as in api/slipway.yaml.
var name = regexp.MustCompile(`^[!-~]+( [!-~]+)*$`)

const maxName = 253

// user reads the claims of a verified token.
func (p *Provider) user(claims map[string]any) (auth.Caller, error) {
	caller := auth.Caller{Issuer: p.Issuer, Scheme: auth.SchemeUser}
	own, _ := claim(claims, p.UserClaim).(string)
	if !name.MatchString(own) || len(own) > maxName-len(p.UserPrefix) {
		return caller, auth.Refusedf("require the name of the user in the claim %s, found %q", p.UserClaim, own)
	}
	// An address that its owner did not prove is a name that anyone chooses.
	if verified := claims["email_verified"]; p.UserClaim == "email" && verified != true && verified != "true" {
		return caller, auth.Refusedf("require an e-mail address that the issuer has verified, found %q", own)
	}
	caller.Name = p.UserPrefix + own
	if p.OrgClaim != "" {
		org, err := organization(claim(claims, p.OrgClaim))
		if err != nil {
			return caller, auth.Refusedf("require the name of one organization in the claim %s, %v", p.OrgClaim, err)
		}
		caller.OrgID = org
	}
	values := texts(claim(claims, p.RolesClaim))
	for _, role := range auth.UserRoles { // the role that may do most comes first
		for _, wanted := range p.Roles[role] {
			if wanted == "*" || slices.Contains(values, wanted) {
				caller.Role, caller.Admin = role, role == auth.RoleAdmin || role == auth.RoleViewer
				return caller, nil
			}
		}
	}
	return caller, auth.Refusedf("no value of the claim %s gives a role here: %s", p.RolesClaim, shown(values))
}

// organization reads a claim with the name of an organization: a text, a list with one, or an object by names, as Keycloak has them. No
// claim, and an empty one, is no organization.
func organization(value any) (string, error) {
	var names []string
	switch value := value.(type) {
	case nil:
	case string:
		names = []string{value}
	case []any:
		names = texts(value)
		if len(names) != len(value) {
			return "", errors.New("found other values")
		}
	case map[string]any:
		names = slices.Sorted(maps.Keys(value))
	default:
		return "", fmt.Errorf("found %v", value)
	}
	names = slices.DeleteFunc(names, func(n string) bool { return n == "" })
	switch {
	case len(names) == 0:
		return "", nil
	case len(names) > 1:
		return "", fmt.Errorf("found %s", shown(names))
	case !name.MatchString(names[0]) || len(names[0]) > maxName:
		return "", fmt.Errorf("found %q", names[0])
	}
	return names[0], nil
}

// claim finds a claim by its name, or inside of other claims by a name with dots.
func claim(claims map[string]any, path string) any {
	if value, found := claims[path]; found {
		return value
	}
	first, rest, dotted := strings.Cut(path, ".")
	inner, isObject := claims[first].(map[string]any)
	if !dotted || !isObject {
		return nil
	}
	return claim(inner, rest)
}

// texts returns the values of a claim that is a text or a list of texts.
func texts(value any) []string {
	switch value := value.(type) {
	case string:
		return []string{value}
	case []any:
		var out []string
		for _, one := range value {
			if text, isText := one.(string); isText {
				out = append(out, text)
			}
		}
		return out
	}
	return nil
}

func shown(values []string) string {
	if len(values) == 0 {
		return "none"
	}
	return fmt.Sprintf("%q", values[:min(len(values), 10)])
}
