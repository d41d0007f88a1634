package model_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
)

// Agents of openshift/assisted-installer-agent compare each argument that begins with a hyphen with a list of names, and refuse the step
// where one is none of them (openshift/assisted-service, pkg/validations, allowedFlags).
func TestArgumentsOfCoreosInstallerAreWrittenAsAllAgentsAcceptThem(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ given, want []string }{
		"none":                     {},
		"a kernel argument":        {[]string{"--append-karg", "nosmt"}, []string{"--append-karg", "nosmt"}},
		"a value after a sign":     {[]string{"--append-karg=ip=eth0:dhcp"}, []string{"--append-karg", "ip=eth0:dhcp"}},
		"a removed argument":       {[]string{"--delete-karg=console=ttyS0"}, []string{"--delete-karg", "console=ttyS0"}},
		"a label":                  {[]string{"--save-partlabel=data*"}, []string{"--save-partlabel", "data*"}},
		"a range":                  {[]string{"--save-partindex=5-"}, []string{"--save-partindex", "5-"}},
		"a range without a begin":  {[]string{"--save-partindex", "-4"}, []string{"--save-partindex", "1-4"}},
		"such a range in a list":   {[]string{"--save-partindex=-2,5,7-"}, []string{"--save-partindex", "1-2,5,7-"}},
		"an image":                 {[]string{"--image-url=https://example.com/a?b=c"}, []string{"--image-url", "https://example.com/a?b=c"}},
		"a short name":             {[]string{"-n"}, []string{"--copy-network"}},
		"both names of one option": {[]string{"--copy-network", "-n"}, []string{"--copy-network"}},
		"a label with a hyphen":    {[]string{"--save-partlabel", "-4"}, []string{"--save-partlabel", "-4"}},
	} {
		require.Equal(t, c.want, model.WriterArgs(model.WriterOptions(c.given)), name)
	}
}
