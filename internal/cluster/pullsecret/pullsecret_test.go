package pullsecret_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/pullsecret"
)

// dXNlcjpwYXNz decodes to user:pass, ZG9lOnBhOnNz is doe:pa:ss, MDAwMDo= is 0000:, Og== is a colon, bm9jb2xvbg== is nocolon.
func TestCheckTakesWhatTheContainerToolsAndTheInstallerTake(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"user and password":         {`{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz"}}}`, ""},
		"an empty auth":             {`{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz"},"m.example:5000":{"auth":"","email":"a@b.c"}}}`, ""},
		"only an empty auth":        {`{"auths":{"m.example:5000":{"auth":""}}}`, ""},
		"no auth":                   {`{"auths":{"m.example":{"auth":null}}}`, ""},
		"a store of the machine":    {`{"auths":{"m.example":{"credsStore":"desktop"}}}`, ""},
		"an identity token":         {`{"auths":{"acr.example":{"auth":"MDAwMDo=","identitytoken":"x"}}}`, ""},
		"a token of a registry":     {`{"auths":{"r.example":{"auth":"","registrytoken":"x"}}}`, ""},
		"a colon in the password":   {`{"auths":{"r.example":{"auth":"ZG9lOnBhOnNz"}}}`, ""},
		"neither user nor password": {`{"auths":{"r.example":{"auth":"Og=="}}}`, ""},
		"helpers beside the auths": {
			`{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz"}},"credHelpers":{"r.example":"ecr-login"},"credsStore":"x"}`, "",
		},
		"a repository":             {`{"auths":{"quay.io/ocp/release":{"auth":"dXNlcjpwYXNz"}}}`, ""},
		"wrapped base64":           {`{"auths":{"quay.io":{"auth":"dXNl\ncjpwYXNz"}}}`, ""},
		"a user that is a number":  {`{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz","username":1001,"password":null}}}`, ""},
		"no email":                 {`{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz","email":null,"identitytoken":null}}}`, ""},
		"a line break at its end":  {`{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz\n"}}}`, ""},
		"an address of a registry": {`{"auths":{"https://quay.io/v2/":{"auth":"dXNlcjpwYXNz"}},"HttpHeaders":{"User-Agent":"Docker"}}`, ""},
		"no JSON":                  {`hello`, "must be a JSON object with auths"},
		"a list":                   {`{"auths":[]}`, "must be a JSON object with auths"},
		"a number":                 {`{"auths":{"quay.io":{"auth":1}}}`, "must be a JSON object with auths"},
		"no registry":              {`{"auths":{}}`, "auths must have at least one registry"},
		"no auths":                 {`{"credsStore":"x"}`, "auths must have at least one registry"},
		"an empty entry":           {`{"auths":{"quay.io":{}}}`, `the entry of "quay.io" must have auth or credsStore`},
		"an identity token alone":  {`{"auths":{"quay.io":{"identitytoken":"x"}}}`, `the entry of "quay.io" must have auth or credsStore`},
		"a space in the base64":    {`{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz "}}}`, `auth of "quay.io" must be base64`},
		"base64 without its end":   {`{"auths":{"quay.io":{"auth":"dXNlcjpwYXM"}}}`, `auth of "quay.io" must be base64`},
		"an entry that is null":    {`{"auths":{"quay.io":null}}`, `the entry of "quay.io" must have auth or credsStore`},
		"no base64":                {`{"auths":{"quay.io":{"auth":"user:pass"}}}`, `auth of "quay.io" must be base64`},
		"no colon":                 {`{"auths":{"quay.io":{"auth":"bm9jb2xvbg=="}}}`, `auth of "quay.io" must be user:password`},
	} {
		_, err := pullsecret.Check(c.text)
		if c.want == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, err, c.want, name)
		require.NotContains(t, err.Error(), "nocolon", name)
	}
}

func TestFindTakesTheKeyWithTheLongestPath(t *testing.T) {
	t.Parallel()
	secret, err := pullsecret.Parse(`{"auths":{
		"quay.io":{"auth":"YTp3aG9sZQ=="},
		"quay.io/ocp":{"auth":"YTpwYXJ0"},
		"quay.io/ocp/open":{"auth":""},
		"m.example:5000":{"auth":"YTpwb3J0"},
		"https://index.docker.io/v1/":{"auth":"YTpodWI="},
		"https://old.example/v2/":{"auth":"YTpvbGQ="},
		"acr.example":{"auth":"MDAwMDo=","identitytoken":"x"},
		"plain.example":{"auth":"","username":"a","password":"plain"}}}`)
	require.NoError(t, err)
	for image, want := range map[string]pullsecret.Entry{
		"quay.io/other/release:4.20":              {User: "a", Password: "whole"},
		"quay.io/ocp/release@sha256:0123":         {User: "a", Password: "part"},
		"quay.io/ocp":                             {User: "a", Password: "part"},
		"quay.io/ocp-dev/release":                 {User: "a", Password: "whole"},
		"quay.io/ocp/open:v1":                     {},
		"m.example:5000/ocp/release:4.20":         {User: "a", Password: "port"},
		"m.example:5000":                          {User: "a", Password: "port"},
		"docker.io/library/busybox":               {User: "a", Password: "hub"},
		"index.docker.io/library/busybox:1":       {User: "a", Password: "hub"},
		"registry-1.docker.io/library/busybox":    {User: "a", Password: "hub"},
		"old.example/ocp/release":                 {User: "a", Password: "old"},
		"acr.example/ocp/release:4.20@sha256:012": {User: "0000", IdentityToken: "x"},
		"plain.example/a":                         {User: "a", Password: "plain"},
	} {
		got, ok := secret.Find(image)
		require.True(t, ok, image)
		require.Equal(t, want, got, image)
	}
	for _, image := range []string{"m.example/ocp/release", "m.example:5001/ocp/release", "quay.io.example/ocp", "xquay.io/ocp", ""} {
		_, ok := secret.Find(image)
		require.False(t, ok, image)
	}
}

func TestOfSeveralSpellingsTheExactOneDecides(t *testing.T) {
	t.Parallel()
	secret, err := pullsecret.Parse(`{"auths":{"https://quay.io":{"auth":"YTpvbGQ="},"quay.io":{"auth":""},
		"http://r.example":{"auth":""},"https://r.example/v2/":{"auth":"YTpvbGQ="}}}`)
	require.NoError(t, err)
	require.Equal(t, pullsecret.Secret{"quay.io": {}, "r.example": {User: "a", Password: "old"}}, secret)
}

func TestWordsAreAllThatOpensARegistry(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"0000:", "MDAwMDo=", "ZG9lOnBhOnNz", "doe:pa:ss", "identity", "pa:ss", "plain", "registry"},
		pullsecret.Words(`{"auths":{"a":{"auth":"ZG9lOnBhOnNz"},"b":{"auth":"MDAwMDo=","identitytoken":"identity"},
			"c":{"registrytoken":"registry","password":"plain"},"d":[],"e":{"auth":""}}}`))
	require.Empty(t, pullsecret.Words("hello"))
}
