// Package settings reads the settings of the service.
package settings

import (
	"fmt"
	"net/url"
	"strings"
)

// WebAddress reads the http or https address that the setting name holds.
func WebAddress(name, text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("read %s: require an address that begins with http:// or https://, found %q", name, text)
	}
	return u, nil
}

// Given reports whether a JSON list has entries: deployments also write "[]" for none.
func Given(list string) bool {
	list = strings.TrimSpace(list)
	return list != "" && list != "[]"
}
