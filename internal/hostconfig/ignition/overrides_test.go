package ignition_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/hostconfig/ignition"
	"slipway/internal/model"
)

// packedData is gzip of "hello\n".
const packedData = "data:;base64,H4sIAAAAAAAC/8tIzcnJ5wIAIDA6NgYAAAA="

func withFile(file string) string {
	return `{"ignition":{"version":"3.1.0"},"storage":{"files":[` + file + `]}}`
}

// A fault that Ignition finds at boot ends in an emergency shell, unnoticed.
func TestOverridesThatWouldNotBootAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ override, want string }{
		"fails when another config takes the place of all": {
			`{"ignition":{"version":"3.1.0","config":{"replace":{"source":"http://192.0.2.1/mine.ign"}}}}`,
			"ignition.config.replace: use merge, because nothing of the service's config would be left",
		},
		"fails when a file is where a folder has to be": {
			withFile(`{"path":"/etc/slipway"}`),
			"storage: /etc/slipway must be a folder, not a file, because it is above /etc/slipway/agent.env",
		},
		"fails when a file is below a file of the service": {
			withFile(`{"path":"/etc/motd/mine"}`), "storage: /etc/motd must be a folder, not a file, because it is above /etc/motd/mine",
		},
		"fails when a folder is below a file of the service": {
			`{"ignition":{"version":"3.1.0"},"storage":{"directories":[{"path":"/etc/motd/mine"}]}}`,
			"storage: /etc/motd must be a folder, not a file, because it is above /etc/motd/mine",
		},
		"fails when contents are not packed as they say": {
			withFile(`{"path":"/a","contents":{"source":"data:,hello","compression":"gzip"}}`), "storage.files: read contents of /a: ",
		},
		"fails when an addition is not packed as it says": {
			withFile(`{"path":"/a","append":[{"source":"data:,hello","compression":"gzip"}]}`), "storage.files: read contents of /a: ",
		},
		"fails when contents have another digest": {
			withFile(
				`{"path":"/a","contents":{"source":"` + packedData + `","compression":"gzip","verification":{"hash":"sha256-` + agentHash + `"}}}`,
			),
			"storage.files: read contents of /a: require the hash " +
				"sha256-5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03 that they have, found sha256-" + agentHash,
		},
		"fails with kernel arguments in a live system": {
			`{"ignition":{"version":"3.3.0"},"kernelArguments":{"shouldExist":["quiet"]}}`,
			"kernelArguments: require none in a live system, which cannot change its own; set kernel_arguments of the InfraEnv",
		},
		"fails with kernel arguments that are to go": {
			"variant: fcos\nversion: 1.4.0\nkernel_arguments: {should_not_exist: [quiet]}\n", "kernelArguments: require none",
		},
	} {
		in := minimal()
		in.InfraEnv.IgnitionConfigOverride = c.override
		_, err := ignition.Discovery(in)
		require.ErrorIs(t, err, model.ErrInvalid, name)
		require.ErrorContains(t, err, "ignition_config_override: "+"invalid Ignition config: "+c.want, name)
	}
}

func TestOverridesThatBootAreTaken(t *testing.T) {
	t.Parallel()
	for name, override := range map[string]string{
		"packed contents with their digest": withFile(
			`{"path":"/a","contents":{"source":"` + packedData + `","compression":"gzip","verification":{"hash":"sha256-5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"}}}`,
		),
		"contents at an address": withFile(
			`{"path":"/a","contents":{"source":"http://192.0.2.1/a","compression":"gzip","verification":{"hash":"sha256-` + agentHash + `"}}}`,
		),
		"a config that is added": `{"ignition":{"version":"3.1.0","config":{"merge":[{"source":"http://192.0.2.1/mine.ign"}],"replace":{"source":null}}}}`,
		"a file beside ours":     withFile(`{"path":"/etc/slipway/mine"}`),
		"no kernel arguments":    `{"ignition":{"version":"3.3.0"},"kernelArguments":{"shouldExist":[]}}`,
	} {
		in := minimal()
		in.InfraEnv.IgnitionConfigOverride = override
		_, err := ignition.Discovery(in)
		require.NoError(t, err, name)
	}
}

// Kernel arguments apply to the installed system there.
func TestHostsAreInstalledWithKernelArguments(t *testing.T) {
	t.Parallel()
	h := host()
	h.IgnitionConfigOverrides = `{"ignition":{"version":"3.3.0"},"kernelArguments":{"shouldExist":["quiet"]}}`
	_, err := ignition.Host(ignition.HostInput{Host: h, Role: []byte(pointer)})
	require.NoError(t, err)
}

func TestOverridesNewerThanTheSystemAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ version, config, most string }{
		"4.6 came before 3.2":               {"4.6.60", "3.2.0", "3.1.0"},
		"4.7 came after it":                 {"4.7", "3.2.0", ""},
		"4.8 came before 3.3":               {"4.8.1-x86_64", "3.3.0", "3.2.0"},
		"4.12 came before 3.4":              {"4.12.30", "3.4.0", "3.3.0"},
		"4.14 came after it":                {"4.14", "3.4.0", ""},
		"4.17 came before 3.5":              {"4.17.9", "3.5.0", "3.4.0"},
		"4.18 came after it":                {"4.18.0-ec.1", "3.5.0", ""},
		"a later one than any":              {"5.0", "3.5.0", ""},
		"no version is the newest":          {"", "3.5.0", ""},
		"a version that cannot be compared": {"mine", "3.5.0", ""},
	} {
		in := minimal()
		in.OpenShiftVersion = c.version
		in.InfraEnv.IgnitionConfigOverride = `{"ignition":{"version":"` + c.config + `"}}`
		_, err := ignition.Discovery(in)
		if c.most == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorIs(t, err, model.ErrInvalid, name)
		require.ErrorContains(
			t,
			err,
			"ignition.version: require at most "+c.most+", which the system of OpenShift "+c.version+" reads, found "+c.config,
			name,
		)
		in.Deployment.OKDPackages = "quay.io/okd/packages:latest"
		_, err = ignition.Discovery(in)
		require.NoError(t, err, "%s: the system of OKD is another", name)
	}
}

// Comments beside certificates and keys may hold anything.
func TestConfigsTakeEveryCharacter(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a\x7fb", "a\u0090b", "a\u0085b", "\ufeffa", "a\ufffeb", "a\uffffb", "a\u2028b", "\x00\x1b", "a😀b"} {
		in := minimal()
		in.InfraEnv.AdditionalTrustBundle = text
		require.Equal(
			t,
			text,
			content(t, discover(t, in), "/etc/pki/ca-trust/source/anchors/assisted-infraenv-additional-trust-bundle.pem"),
			"%q",
			text,
		)
	}
}
