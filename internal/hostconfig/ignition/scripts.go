package ignition

import (
	"fmt"
	"strings"

	"slipway/internal/model"
)

// proxyVariables are the proxy settings as environment variables: some programs read only the lower case names,
// some only the upper case ones.
func proxyVariables(p model.Proxy) [][2]string {
	var vars [][2]string
	for _, v := range [][2]string{{"HTTP_PROXY", p.HTTP}, {"HTTPS_PROXY", p.HTTPS}, {"NO_PROXY", p.NoProxy}} {
		if v[1] != "" {
			vars = append(vars, v, [2]string{strings.ToLower(v[0]), v[1]})
		}
	}
	return vars
}

func proxyProfile(p model.Proxy) string {
	var b strings.Builder
	for _, v := range proxyVariables(p) {
		fmt.Fprintf(&b, "export %s=%s\n", v[0], shellQuote(v[1]))
	}
	return b.String()
}

// ntpScript adds the sources of an InfraEnv to chronyd, replacing its own if they are the only ones to use.
// chronyd refuses a source that it has already; the script continues with the others.
func ntpScript(sources []string, only bool) string {
	if len(sources) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("#!/bin/bash\n")
	if only {
		b.WriteString("chronyc -n -c sources | cut -d, -f3 | while read -r known; do chronyc delete \"$known\" || true; done\n")
	}
	for _, s := range sources {
		fmt.Fprintf(&b, "chronyc add server %s iburst || true\n", shellQuote(s))
	}
	return b.String()
}
