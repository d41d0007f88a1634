package document_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/hostconfig/ignition/document"
	"slipway/internal/model"
)

func TestMergeKeepsTheNewestVersion(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		a, b, want string
	}{
		"two of the same":       {`{"ignition":{"version":"3.1.0"}}`, `{"ignition":{"version":"3.1.0"}}`, "3.1.0"},
		"an older one on top":   {`{"ignition":{"version":"3.2.0"}}`, `{"ignition":{"version":"3.1.0"}}`, "3.2.0"},
		"a newer one on top":    {`{"ignition":{"version":"3.1.0"}}`, `{"ignition":{"version":"3.4.0"}}`, "3.4.0"},
		"older than any we use": {`{"ignition":{"version":"3.0.0"}}`, `{"ignition":{"version":"3.0.0"}}`, "3.1.0"},
		"the newest":            {`{"ignition":{"version":"3.3.0"}}`, `{"ignition":{"version":"3.5.0"}}`, "3.5.0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := document.Merge([]byte(c.a), []byte(c.b))
			require.NoError(t, err)
			require.JSONEq(t, fmt.Sprintf(`{"ignition":{"version":%q}}`, c.want), string(got))
		})
	}
}

func TestMergeLaysFilesUnitsAndUsersOverEachOther(t *testing.T) {
	t.Parallel()
	got, err := document.Merge(
		[]byte(`{"ignition":{"version":"3.1.0"},
			"passwd":{"users":[{"name":"core","sshAuthorizedKeys":["a"]}]},
			"storage":{"files":[{"path":"/one","contents":{"source":"data:,1"}},{"path":"/two","contents":{"source":"data:,2"}}]},
			"systemd":{"units":[{"name":"a.service","enabled":true,"contents":"[Unit]\n[Install]\nWantedBy=multi-user.target\n"}]}}`),
		[]byte(`{"ignition":{"version":"3.1.0"},
			"passwd":{"users":[{"name":"core","sshAuthorizedKeys":["b"]}]},
			"storage":{"files":[{"path":"/two","overwrite":true,"contents":{"source":"data:,3"}}]},
			"systemd":{"units":[{"name":"a.service","enabled":false}]}}`))
	require.NoError(t, err)
	require.JSONEq(t, `{"ignition":{"version":"3.1.0"},
		"passwd":{"users":[{"name":"core","sshAuthorizedKeys":["a","b"]}]},
		"storage":{"files":[{"path":"/one","contents":{"source":"data:,1"}},{"path":"/two","overwrite":true,"contents":{"source":"data:,3"}}]},
		"systemd":{"units":[{"name":"a.service","enabled":false,"contents":"[Unit]\n[Install]\nWantedBy=multi-user.target\n"}]}}`, string(got))
}

func TestCheckTellsThePlaceOfAFault(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ config, want string }{
		"no JSON":          {`{"ignition":`, "not JSON at byte 12"},
		"another type":     {`{"ignition":[]}`, "cannot unmarshal array"},
		"no version":       {`{}`, "ignition.version is required"},
		"no such version":  {`{"ignition":{"version":"three"}}`, `found "three"`},
		"version 2":        {`{"ignition":{"version":"2.2.0"}}`, "require ignition.version 3.0.0 to 3.5.0, found 2.2.0"},
		"a future version": {`{"ignition":{"version":"3.99.0"}}`, "found 3.99.0"},
		"an experiment":    {`{"ignition":{"version":"3.6.0-experimental"}}`, "found 3.6.0-experimental"},
		"a relative path": {
			`{"ignition":{"version":"3.1.0"},"storage":{"files":[{"path":"/a"},{"path":"b"}]}}`, "$.storage.files.1.path",
		},
		"a bad hash": {
			`{"ignition":{"version":"3.1.0"},"storage":{"files":[{"path":"/a","contents":{"source":"http://h/a","verification":{"hash":"sha256-zz"}}}]}}`,
			"$.storage.files.0.contents.verification.hash",
		},
		"a string as number": {`{"ignition":{"version":"3.1.0"},"storage":{"files":[{"path":"/a","mode":"0644"}]}}`, "storage.files"},
		"a path given twice": {`{"ignition":{"version":"3.1.0"},"storage":{"files":[{"path":"/a"},{"path":"/a"}]}}`, "$.storage.files.1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := document.Check([]byte(c.config))
			require.ErrorIs(t, err, model.ErrInvalid)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestMergeRefusesConfigsThatContradict(t *testing.T) {
	t.Parallel()
	_, err := document.Merge(
		[]byte(`{"ignition":{"version":"3.1.0"},"storage":{"files":[{"path":"/a/b"}]}}`),
		[]byte(`{"ignition":{"version":"3.1.0"},"storage":{"links":[{"path":"/a","target":"/b"}]}}`))
	require.ErrorIs(t, err, model.ErrInvalid)
	require.ErrorContains(t, err, "$.storage")
}

func packed(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return "data:;base64," + base64.StdEncoding.EncodeToString(b.Bytes())
}

func TestDocumentEditsFiles(t *testing.T) {
	t.Parallel()
	d, err := document.Parse([]byte(`{"ignition":{"version":"3.2.0"},
		"storage":{"disks":[{"device":"/dev/sda"}],"files":[
			{"path":"/plain","mode":420,"user":{"name":"core"},"contents":{"source":"data:,a%20b"}},
			{"path":"/packed","contents":{"compression":"gzip","source":"` + packed("long text") + `"}},
			{"path":"/remote","contents":{"source":"http://host/file"}},
			{"path":"/none"},
			{"path":"/etc/motd","append":[{"source":"data:,hello"}]}]}}`))
	require.NoError(t, err)
	require.Len(t, d.Files(), 5)
	content := func(path string) string {
		f, err := d.File(path)
		require.NoError(t, err)
		data, err := f.Content()
		require.NoError(t, err)
		return string(data)
	}
	require.Equal(t, "a b", content("/plain"))
	require.Equal(t, "long text", content("/packed"))
	require.Empty(t, content("/none"))
	remote, err := d.File("/remote")
	require.NoError(t, err)
	_, err = remote.Content()
	require.ErrorIs(t, err, document.ErrRemote)
	_, err = d.File("/missing")
	require.ErrorIs(t, err, model.ErrNotFound)

	packedFile, err := d.File("/packed")
	require.NoError(t, err)
	packedFile.SetContent([]byte("new"))
	require.Equal(t, "new", content("/packed"))
	motd, err := d.File("/etc/motd")
	require.NoError(t, err)
	require.NoError(t, motd.Overwrite())
	d.RemoveFiles(func(f *document.File) bool { return f.Path == "/remote" || f.Path == "/none" })

	got, err := d.Bytes()
	require.NoError(t, err)
	require.JSONEq(t, `{"ignition":{"version":"3.2.0"},
		"storage":{"disks":[{"device":"/dev/sda"}],"files":[
			{"path":"/plain","mode":420,"user":{"name":"core"},"contents":{"source":"data:,a%20b"}},
			{"path":"/packed","contents":{"source":"data:text/plain;charset=utf-8;base64,bmV3"}},
			{"path":"/etc/motd","overwrite":true,"contents":{"source":"data:,hello"}}]}}`, string(got))
	require.NoError(t, document.Check(got))
}

func TestDocumentTakesMoreFiles(t *testing.T) {
	t.Parallel()
	for _, config := range []string{
		`{"ignition":{"version":"3.1.0"}}`, `{"ignition":{"version":"3.1.0"},"storage":{"files":[{"path":"/one"}]}}`,
	} {
		d, err := document.Parse([]byte(config))
		require.NoError(t, err)
		d.AddFile("/two", 0o600, []byte("a \"b\"\n%\x00\xff,;"))
		got, err := d.Bytes()
		require.NoError(t, err)
		again, err := document.Parse(got)
		require.NoError(t, err)
		require.Len(t, again.Files(), len(d.Files()))
		f, err := again.File("/two")
		require.NoError(t, err)
		content, err := f.Content()
		require.NoError(t, err)
		require.Equal(t, "a \"b\"\n%\x00\xff,;", string(content))
		require.Contains(t, string(got), `"mode":384`)
	}
}

func TestDocumentReplacesSources(t *testing.T) {
	t.Parallel()
	d, err := document.Parse([]byte(`{"ignition":{"version":"3.2.0","timeouts":{"httpTotal":5},"config":{"merge":[
		{"source":"https://api:22623/config/worker","verification":{}}]}}}`))
	require.NoError(t, err)
	require.NoError(t, d.Sources(func(s string) string { return s + "-2" }))
	got, err := d.Bytes()
	require.NoError(t, err)
	require.JSONEq(t, `{"ignition":{"version":"3.2.0","timeouts":{"httpTotal":5},"config":{"merge":[
		{"source":"https://api:22623/config/worker-2","verification":{}}]}}}`, string(got))
}

func TestDocumentWithoutFilesStaysAsItIs(t *testing.T) {
	t.Parallel()
	for _, config := range []string{
		`{"ignition":{"version":"3.1.0"}}`,
		`{"ignition":{"version":"3.1.0"},"storage":{"directories":[{"path":"/a"}]}}`,
	} {
		d, err := document.Parse([]byte(config))
		require.NoError(t, err)
		require.NoError(t, d.Sources(func(string) string { return "x" }))
		got, err := d.Bytes()
		require.NoError(t, err)
		require.JSONEq(t, config, string(got))
	}
}

// BenchmarkMergeBootstrap lays a small config over a config of five megabytes.
func BenchmarkMergeBootstrap(b *testing.B) {
	var files bytes.Buffer
	for i := range 500 {
		fmt.Fprintf(&files, `,{"path":"/opt/openshift/%d","contents":{"source":"data:;base64,%s"}}`,
			i, base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("x"), 7500)))
	}
	big := fmt.Appendf(nil, `{"ignition":{"version":"3.2.0"},"storage":{"files":[%s]}}`, files.Bytes()[1:])
	b.SetBytes(int64(len(big)))
	for b.Loop() {
		_, err := document.Merge(big, []byte(`{"ignition":{"version":"3.1.0"},"storage":{"files":[{"path":"/etc/hostname"}]}}`))
		require.NoError(b, err)
	}
}
