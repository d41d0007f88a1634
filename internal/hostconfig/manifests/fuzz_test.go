package manifests_test

import (
	"encoding/base64"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"slipway/internal/hostconfig/manifests"
	"slipway/internal/model"
)

// FuzzName: an accepted name is one name in one folder, and a refusal says why.
func FuzzName(f *testing.F) {
	for _, name := range []string{"a.yaml", "a b.yaml", "../a.yaml", ".a.json", "a.yaml.patch_1", "a.txt", "", "\u00a0.yml", "a\x00.yaml"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if err := manifests.CheckName(name); err != nil {
			require.ErrorIs(t, err, model.ErrUnprocessable)
			return
		}
		require.Equal(t, name, filepath.Base(name))
		require.NotContains(t, []string{"", ".", ".."}, name)
		require.False(t, strings.HasPrefix(name, "."))
		require.True(t, filepath.IsLocal(name))
	})
}

// FuzzContent: accepted content can be taken apart into readable documents, and an accepted patch can be tried on a manifest.
func FuzzContent(f *testing.F) {
	for _, seed := range [][2]string{
		{"a.yaml", "a: 1\n---\nb: [1, 2]\n"},
		{"a.yaml", "--- # x\n{a: 1}\n...\n"},
		{"a.yml", "a: &x [1]\nb: *x\n"},
		{"a.json", `{"a":[1,null]}`},
		{"a.yaml.patch", "- {op: add, path: /spec/x, value: 1}\n"},
		{"a.yaml.patch_1", "- {op: remove, path: /list/name=a}\n"},
		{
			"a.yaml.patch_2",
			`[{"op":"copy","from":"/list/0","path":"/list/-"},{"op":"move","from":"/kind","path":"/k"},{"op":"test","path":"","value":null}]`,
		},
	} {
		f.Add(seed[0], []byte(seed[1]))
	}
	const manifest = "kind: X\nspec: {}\nlist:\n- {name: a}\n- {name: b, more: [1, {name: a}]}\n"
	f.Fuzz(func(t *testing.T, name string, content []byte) {
		if manifests.CheckName(name) != nil {
			return
		}
		decoded, err := manifests.Decode(name, base64.StdEncoding.EncodeToString(content))
		if err != nil {
			require.ErrorIs(t, err, model.ErrInvalid)
			return
		}
		require.Equal(t, content, decoded)
		if manifests.IsPatch(name) {
			p, err := manifests.ParsePatch(name, content)
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(name, p.Target))
			if changed, err := p.Apply([]byte(manifest)); err == nil {
				var value any
				require.NoError(t, yaml.Unmarshal(changed, &value))
			}
			return
		}
		documents, err := manifests.Documents(name, content)
		require.NoError(t, err)
		for _, d := range documents {
			again, err := manifests.Documents(name, d)
			require.NoError(t, err)
			require.Len(t, again, 1)
		}
	})
}
