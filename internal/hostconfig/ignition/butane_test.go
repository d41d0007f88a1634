package ignition_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/hostconfig/ignition"
	"slipway/internal/model"
)

const (
	fcos = "variant: fcos\nversion: 1.1.0\nstorage:\n  files:\n    - path: /etc/mine\n      mode: 0644\n      contents: {inline: \"a: " +
		"{b}\\n\"}\n"
	// The source of MachineConfigs; the fields around the config are not for Ignition.
	openshift = "variant: openshift\nversion: 4.20.0\nmetadata: {name: mine, labels: {machineconfiguration.openshift.io/role: worker}}\n" +
		"storage:\n  files:\n    - path: /etc/mine\n      mode: 0644\n      overwrite: true\n      contents: {inline: \"a: {b}\\n\"}\n"
	fcosJSON = `{"variant":"fcos","version":"1.4.0","ignition":{"config":{}},"storage":{"files":[{"path":"/etc/mine","contents":{"inline":"a: {b}\n"}}]}}`
)

func TestButaneIsTakenWhereIgnitionIs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ config, version string }{
		"of Fedora CoreOS":        {fcos, "3.1.0"},
		"of OpenShift":            {openshift, "3.5.0"},
		"written as JSON":         {fcosJSON, "3.3.0"},
		"after space and comment": {"\n# mine\n---\n" + fcos, "3.1.0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, ignition.CheckOverride(c.config))
			in := minimal()
			in.InfraEnv.IgnitionConfigOverride = c.config
			config, err := ignition.Discovery(in)
			require.NoError(t, err)
			require.Equal(t, "a: {b}\n", fileContent(t, config, "/etc/mine"))
			var got struct{ Ignition struct{ Version string } }
			require.NoError(t, json.Unmarshal(config, &got))
			require.Equal(t, c.version, got.Ignition.Version)

			h := host()
			h.IgnitionConfigOverrides = c.config
			config, err = ignition.Host(ignition.HostInput{Host: h, Role: []byte(pointer)})
			require.NoError(t, err)
			require.Equal(t, "a: {b}\n", fileContent(t, config, "/etc/mine"))
		})
	}
}

func TestButaneThatIsNotTaken(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("hunter2"), 0o600))
	file := func(contents string) string {
		return "variant: fcos\nversion: 1.5.0\nstorage:\n  files:\n    - path: /etc/mine\n      contents: {" + contents + "}\n"
	}
	for name, c := range map[string]struct{ config, want string }{
		"neither":               {"storage: {files: []}\n", "must be an Ignition config in JSON, or a Butane config with a variant"},
		"no YAML":               {"variant: [\n", "require an Ignition config in JSON or a Butane config in YAML: yaml: line 1"},
		"another system":        {"variant: flatcar\nversion: 1.0.0\n", "variant: require one of fcos, openshift, found flatcar"},
		"a variant of numbers":  {"variant: 1\n", "found 1"},
		"a variant of the past": {"variant: rhcos\nversion: 0.1.0\n", "found rhcos"},
		"no version":            {"variant: fcos\n", "version: must be like 1.1.0"},
		"no such version":       {"variant: fcos\nversion: 1.99.0\n", "version: require one that variant fcos has, found 1.99.0"},
		"an experiment":         {"variant: fcos\nversion: 1.8.0-experimental\n", "found 3.7.0-experimental"},
		"newer than the images": {"variant: fcos\nversion: 1.7.0\n", "require ignition.version 3.0.0 to 3.5.0, found 3.6.0"},
		"a relative path": {
			strings.Replace(fcos, "/etc/mine", "mine", 1), "$.storage.files.0.path, line 5 col 13: path not absolute",
		},
		"a key there is not": {fcos + "strage: {}\n", "$.strage, line 8"},
		"a local file": {
			file("local: " + secret),
			"$.storage.files.0.contents.local, line 6 col 25: local files are not available here; give the contents inline or at an address",
		},
		"a file further up": {file("local: ../../etc/passwd"), "local files are not available here"},
		"a local tree":      {"variant: fcos\nversion: 1.5.0\nstorage: {trees: [{local: /etc}]}\n", "$.storage.trees.0, line 3"},
		"local keys": {
			"variant: fcos\nversion: 1.5.0\npasswd: {users: [{name: core, ssh_authorized_keys_local: [" + secret + "]}]}\n",
			"local files are not available here",
		},
		"a local unit": {
			"variant: fcos\nversion: 1.5.0\nsystemd: {units: [{name: a.service, contents_local: " + secret + "}]}\n",
			"local files are not available here",
		},
		"a kernel of OpenShift": {openshift + "openshift: {kernel_type: realtime}\n", "$.openshift.kernel_type"},
		"endless aliases": {
			"variant: fcos\nversion: 1.1.0\na: &a [x, x, x, x, x, x, x, x, x, x]\n" + aliases("bcdefgh"),
			"more than 1048576 bytes after aliases",
		},
		"an alias of itself": {"variant: fcos\nversion: 1.1.0\nstorage: &a {files: [*a]}\n", "more than 1048576 bytes after aliases"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := ignition.CheckOverride(c.config)
			require.ErrorIs(t, err, model.ErrInvalid)
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "hunter2")
		})
	}
}

// aliases makes lists of ten times the list before.
func aliases(names string) string {
	var out strings.Builder
	before := 'a'
	for _, name := range names {
		out.WriteString(string(name) + ": &" + string(name) + " [" + strings.Repeat("*"+string(before)+",", 10) + "]\n")
		before = name
	}
	return out.String()
}
