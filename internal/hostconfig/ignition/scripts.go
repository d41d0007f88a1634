package ignition

import (
	"fmt"
	"strings"

	"slipway/internal/model"
)

// proxyVariables returns the proxy settings as environment variables: some programs read only the lower case names, some only the upper
// case ones.
func proxyVariables(p model.Proxy) [][2]string {
	var vars [][2]string
	for _, v := range [][2]string{{"HTTP_PROXY", p.HTTP}, {"HTTPS_PROXY", p.HTTPS}, {"NO_PROXY", p.ExceptionList()}} {
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

// ntpScript writes the sources of an InfraEnv to the configuration of chronyd before it starts, instead of its own if they
// are the only ones to use. Folders in /run stay in both cases: NetworkManager writes the sources there that a DHCP server
// names (option 42), and installed nodes read them too. A clock that is wrong is set at once and whenever a source is first
// heard (makestep without a limit), as by assisted-service's add-ntp-sources.sh: the system's own three steps may all have
// been taken by then.
func ntpScript(sources []string, only bool) string {
	if len(sources) == 0 {
		return ""
	}
	replaced := "makestep"
	if only {
		replaced += "|server|pool|peer|sourcedir"
	}
	var b strings.Builder
	b.WriteString("#!/bin/bash\nset -eu\nconf=/etc/chrony.conf\n" +
		"if grep -qx '# time sources of the InfraEnv' \"$conf\"; then exit; fi\n")
	b.WriteString("sed -i '$a\\' \"$conf\"\n") // ends the last line
	fmt.Fprintf(&b, `sed -i -E '/^[[:space:]]*sourcedir[[:space:]]+(\/var)?\/run\//I!s/^[[:space:]]*(%s)[[:space:]]/# &/I' "$conf"`+"\n", replaced)
	b.WriteString("{\n  echo '# time sources of the InfraEnv'\n")
	for _, s := range sources {
		fmt.Fprintf(&b, "  echo %s\n", shellQuote("server "+s+" iburst"))
	}
	b.WriteString("  echo 'makestep 1.0 -1'\n} >> \"$conf\"\n")
	return b.String()
}
