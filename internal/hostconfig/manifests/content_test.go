package manifests_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/hostconfig/manifests"
	"slipway/internal/model"
)

func TestNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"a.yaml", "a.yml", "a.json", "50-x.y.yaml", "a.yaml.patch", "a.yml.patch_1", "a.yaml.patch_MINE_2", "ä.yaml",
	} {
		require.NoError(t, manifests.CheckName(name), name)
	}
	for name, want := range map[string]string{
		"a/b.yaml": "without a path", `a\b.yaml`: "without a path", "../a.yaml": "without a path",
		"a b.yaml": "without spaces", "a\t.yaml": "without spaces", "a\u00a0.yaml": "without spaces", "a\x00.yaml": "without spaces",
		".a.yaml": "begin with a dot", "a.txt": "ends in", "yaml": "ends in", "": "ends in", "a.json.patch": "ends in",
		"a.yaml.patch-1":                   "ends in",
		strings.Repeat("a", 200) + ".yaml": "at most 200 bytes",
	} {
		err := manifests.CheckName(name)
		require.ErrorIs(t, err, model.ErrUnprocessable, "%q", name)
		require.ErrorContains(t, err, want, "%q", name)
	}
}

// bomb is less than a mebibyte, and gigabytes once its aliases are replaced.
var bomb = `{a: &a "` + strings.Repeat("x", 500_000) + `", b: [` + strings.Repeat("*a,", 100_000) + "]}\n"

func TestContentThatTheInstallerCannotReadIsRefusedWithItsLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, content, want string }{
		"nothing":                     {"a.yaml", "", "require 1 to 1048576 bytes, found 0"},
		"too much":                    {"a.yaml", strings.Repeat("#", 1<<20+1), "found 1048577"},
		"a fault of the first":        {"a.yaml", "a: 1\nb: [\n", "document 1 at line 2"},
		"a fault of the second":       {"a.yaml", "# one\na: 1\n---\nb: 2\nc: [1\nd: 2\n", "document 2 at line 5"},
		"a fault after a long marker": {"a.yaml", "a: 1\n--- # two\nb: {\n", "document 2 at line 3"},
		"a fault of JSON":             {"a.json", "{\n\"a\": 1,\n}", "a.json is not valid JSON at line 3"},
		"YAML in a file for JSON":     {"a.json", "a: 1", "a.json is not valid JSON"},
		"aliases without measure": {
			"a.yaml", bomb, "document 1 of a.yaml at line 1: more than 8388608 bytes after aliases are replaced",
		},
		"an alias within itself": {"a.yaml", "a: &a [*a]\n", "document 1"},
		"a patch without measure": {
			"a.yaml.patch", "- {op: add, path: /a, value: " + bomb[:len(bomb)-1] + "}\n", "after aliases are replaced",
		},
		"a patch that is no list":    {"a.yaml.patch", "a: 1", "must be a list of operations"},
		"a patch without operations": {"a.yaml.patch", "[]", "require 1 to 1000 operations"},
		"an unknown operation": {
			"a.yaml.patch", "- {op: delete, path: /a}", `operation 1: require op add, remove, replace, move, copy or test, found "delete"`,
		},
		"an operation without path": {"a.yaml.patch", "- {op: remove, path: /a}\n- {op: remove}", "operation 2: require a path"},
		"a relative path":           {"a.yaml.patch", "- {op: remove, path: a}", "begins with a slash"},
		"an addition of nothing":    {"a.yaml.patch", "- {op: add, path: /a}", "require a value for add"},
		"a move from nowhere":       {"a.yaml.patch", "- {op: move, path: /a}", "require a from"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := manifests.CheckContent(c.file, []byte(c.content))
			require.ErrorIs(t, err, model.ErrInvalid)
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, "content: ")
		})
	}
	_, err := manifests.Decode("a.yaml", "a: 1")
	require.ErrorContains(t, err, "must be base64")
	content, err := manifests.Decode("a.yaml", base64.StdEncoding.EncodeToString([]byte("a: 1")))
	require.NoError(t, err)
	require.Equal(t, "a: 1", string(content))
}

func TestFilesOfSeveralDocumentsAreTakenApart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		content string
		want    []string
	}{
		"one":                         {"a: 1\n", []string{"a: 1\n"}},
		"two":                         {"a: 1\n---\nb: 2", []string{"a: 1\n", "b: 2"}},
		"a marker at both ends":       {"---\na: 1\n---\n", []string{"a: 1\n"}},
		"markers with comments":       {"--- # helm\na: 1\n--- # helm\nb: 2\n", []string{" # helm\na: 1\n", " # helm\nb: 2\n"}},
		"content behind a marker":     {"--- {a: 1}\n", []string{" {a: 1}\n"}},
		"ends of documents":           {"a: 1\n...\n---\nb: 2\n...\n", []string{"a: 1\n", "b: 2\n"}},
		"comments alone are left out": {"# a\n---\n# b\n---\nc: 3\n", []string{"c: 3\n"}},
		"dashes within a text":        {"a: |\n  ---\n  b\nc: ----\n", []string{"a: |\n  ---\n  b\nc: ----\n"}},
		"lines of Windows":            {"a: 1\r\n---\r\nb: 2\r\n", []string{"a: 1\r\n", "b: 2\r\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := manifests.Documents("a.yaml", []byte(c.content))
			require.NoError(t, err)
			var texts []string
			for _, d := range found {
				texts = append(texts, strings.TrimLeft(string(d), "\r\n"))
			}
			require.Equal(t, c.want, texts)
		})
	}
}

func TestPatches(t *testing.T) {
	t.Parallel()
	const manifest = "kind: X\nlist:\n- {name: a, size: 1}\n- {name: b, size: 2}\n- {name: a, size: 3}\n"
	for name, c := range map[string]struct{ patch, want, fault string }{
		"a value is replaced": {
			"- {op: replace, path: /kind, value: Other}",
			"kind: Other\nlist:\n- name: a\n  size: 1\n- name: b\n  size: 2\n- name: a\n  size: 3\n", "",
		},
		"an element is found by a value": {
			"- {op: replace, path: /list/name=b/size, value: 9}",
			"kind: X\nlist:\n- name: a\n  size: 1\n- name: b\n  size: 9\n- name: a\n  size: 3\n", "",
		},
		"all elements with it": {"- {op: remove, path: /list/name=a}", "kind: X\nlist:\n- name: b\n  size: 2\n", ""},
		"one is moved": {
			"- {op: move, from: /list/name=b, path: /only}",
			"kind: X\nlist:\n- name: a\n  size: 1\n- name: a\n  size: 3\nonly:\n  name: b\n  size: 2\n", "",
		},
		"no element has it":  {"- {op: remove, path: /list/name=z}", "", "no element with name=z"},
		"several are copied": {"- {op: copy, from: /list/name=a, path: /only}", "", "found 2"},
		"a test fails":       {"- {op: test, path: /kind, value: Z}", "", "test"},
		"nothing is there":   {"- {op: replace, path: /a/b, value: 1}", "", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := manifests.ParsePatch("x.yaml.patch_1", []byte(c.patch))
			require.NoError(t, err)
			require.Equal(t, "x.yaml", p.Target)
			got, err := p.Apply([]byte(manifest))
			if c.fault != "" {
				require.ErrorContains(t, err, c.fault)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, string(got))
		})
	}
}

func TestPoolsOfHostsMustExist(t *testing.T) {
	t.Parallel()
	host := func(role model.Role, pool string) *model.Host {
		return &model.Host{Role: role, RequestedHostname: "w0", MachineConfigPoolName: pool}
	}
	files := map[string][]byte{
		"openshift/pools.yaml": []byte(
			"kind: ConfigMap\n---\napiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfigPool\nmetadata: {name: infra}\n",
		),
		"openshift/other.yaml": []byte("apiVersion: example.com/v1\nkind: MachineConfigPool\nmetadata: {name: elsewhere}\n"),
	}
	require.NoError(
		t,
		manifests.CheckPools(
			[]*model.Host{host("worker", ""), host("worker", "infra"), host("worker", "worker"), host("master", "master")},
			files,
		),
	)
	require.NoError(t, manifests.CheckPools([]*model.Host{host("arbiter", "arbiter")}, nil))
	err := manifests.CheckPools([]*model.Host{host("worker", "elsewhere")}, files)
	require.ErrorIs(t, err, model.ErrInvalid)
	require.EqualError(
		t,
		err,
		`machine_config_pool_name of host w0: require a pool of the cluster or of its manifests (master, worker, infra), found "elsewhere"`,
	)
}

// A namespace is required of the kinds that live in one. The versions of a group do not matter, and neither does the place of the object.
func TestObjectsThatHaveToHaveANamespace(t *testing.T) {
	t.Parallel()
	object := func(version, kind, more string) string {
		return "apiVersion: " + version + "\nkind: " + kind + "\nmetadata: {name: a" + more + "}\n"
	}
	for _, kind := range [][2]string{
		{"v1", "ConfigMap"},
		{"v1", "Secret"},
		{"apps/v1", "Deployment"},
		{"batch/v1beta1", "CronJob"},
		{"operators.coreos.com/v1", "OperatorGroup"},
		{"operators.coreos.com/v1alpha1", "Subscription"},
		{"machine.openshift.io/v1beta1", "MachineSet"},
		{"tuned.openshift.io/v1", "Tuned"},
	} {
		bad := object(kind[0], kind[1], "")
		for name, content := range map[string]string{
			"a.yaml": bad, "b.yml": object("v1", "Namespace", "") + "---\n" + bad,
			"c.json": `{"apiVersion":"` + kind[0] + `","kind":"` + kind[1] + `","metadata":{"name":"a"}}`,
		} {
			err := manifests.CheckTogether(map[string][]byte{"manifests/" + name: []byte(content)})
			require.ErrorIs(t, err, model.ErrInvalid, "%s of %v", name, kind)
			require.ErrorContains(t, err, "require metadata.namespace of "+kind[1]+" a, found none", name)
		}
		good := object(kind[0], kind[1], ", namespace: b")
		require.NoError(t, manifests.CheckTogether(map[string][]byte{"openshift/d.yaml": []byte(good)}), kind)
	}
	for _, kind := range [][2]string{
		{"v1", "Namespace"},
		{"v1", "PersistentVolume"},
		{"rbac.authorization.k8s.io/v1", "ClusterRole"},
		{"example.com/v1", "ConfigMap"},
		{"config.openshift.io/v1", "Proxy"},
		{"storage.k8s.io/v1", "StorageClass"},
		{"apiextensions.k8s.io/v1", "CustomResourceDefinition"},
	} {
		require.NoError(t, manifests.CheckTogether(map[string][]byte{"manifests/e.yaml": []byte(object(kind[0], kind[1], ""))}), kind)
	}
}
