package infraenv_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/api/kube/infraenv"
	shared "slipway/api/kube/resource"
)

func TestMirrorsAreFilesOfTheDiscoveryImage(t *testing.T) {
	t.Parallel()
	const (
		conf   = "[[registry]]\nlocation = \"quay.io/a\"\n[[registry.mirror]]\nlocation = \"m:5000/a\"\n"
		source = "data:text/plain;base64,W1tyZWdpc3RyeV1dCmxvY2F0aW9uID0gInF1YXkuaW8vYSIKW1tyZWdpc3RyeS5taXJyb3JdXQpsb2NhdGlvbiA9ICJtOjUwMDAvYSIK"
		file   = `{"path":"/etc/containers/registries.conf","mode":420,"overwrite":true,"contents":{"source":"` + source + `"}}`
		bundle = `{"path":"/etc/pki/ca-trust/source/anchors/domain.crt","mode":420,"overwrite":true,"contents":{"source":"data:text/plain;base64,UEVN"}}`
	)
	for name, c := range map[string]struct {
		override, bundle, want, refused string
	}{
		"alone":        {"", "", `{"ignition":{"version":"3.1.0"},"storage":{"files":[` + file + `]}}`, ""},
		"certificates": {"", "PEM", `{"ignition":{"version":"3.1.0"},"storage":{"files":[` + file + `,` + bundle + `]}}`, ""},
		"with a user's": {
			`{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/etc/a"}]},"systemd":{}}`, "",
			`{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/etc/a"},` + file + `]},"systemd":{}}`, "",
		},
		"no JSON":   {"{", "", "", "read spec.ignitionConfigOverride: "},
		"no object": {`{"storage":1}`, "", "", "require an object as storage, found 1"},
		"no list":   {`{"storage":{"files":1}}`, "", "", "require a list as storage.files, found 1"},
		"a user's too": {
			`{"storage":{"files":[{"path":"/etc/containers/registries.conf"}]}}`, "", "",
			"require /etc/containers/registries.conf of spec.mirrorRegistryRef or of spec.ignitionConfigOverride, found both",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mirrors, err := shared.ReadMirrors(map[string]string{"registries.conf": conf, "ca-bundle.crt": c.bundle})
			require.NoError(t, err)
			r := resource()
			r.Spec.IgnitionConfigOverride = c.override
			found, err := infraenv.Update(infraenv.Inputs{Resource: r, Mirrors: mirrors})
			if c.refused != "" {
				require.ErrorContains(t, err, c.refused)
				return
			}
			require.NoError(t, err)
			require.JSONEq(t, c.want, *found.IgnitionConfigOverride)
		})
	}
}
