package redact_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/platform/redact"
)

const (
	canary = "c4narYsecret9"
	jwt    = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJjbHVzdGVyIn0.c4narYsecret9-x_y"
)

// auth is a pull secret's user and password.
var auth = base64.StdEncoding.EncodeToString([]byte("robot:c4narYsecret9"))

func privateKey(t testing.TB, kind string) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// within returns JSON that has a text as a member of a text of JSON.
func within(t testing.TB, member any, levels int) string {
	t.Helper()
	for range levels {
		text, err := json.Marshal(member)
		require.NoError(t, err)
		member = map[string]any{"output": string(text)}
	}
	text, err := json.Marshal(member)
	require.NoError(t, err)
	return string(text)
}

func TestEachFormOfASecretIsTakenOut(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"proxy: http://user:" + canary + "@192.0.2.9:3128/x: refused":      "proxy: http://user:[redacted]@192.0.2.9:3128/x: refused",
		"https://user:c4n@rYsecret9@example.com":                           "https://user:[redacted]@example.com",
		"postgres://:" + canary + "@/run/x":                                "postgres://:[redacted]@/run/x",
		"two http://a:" + canary + "@b https://c:" + canary + "@d":         "two http://a:[redacted]@b https://c:[redacted]@d",
		"netroot=iscsi:user:" + canary + "@192.0.2.1::3260::iqn.x":         "netroot=iscsi:user:[redacted]@192.0.2.1::3260::iqn.x",
		"> Authorization: Bearer " + canary:                                "> Authorization: [redacted]",
		"authorization: basic " + auth:                                     "authorization: [redacted]",
		"map[Authorization:[Bearer " + canary + "] Accept:[x]]":            "map[Authorization:[[redacted]] Accept:[x]]",
		`{"Authorization":["Bearer ` + canary + `"]}`:                      `{"Authorization":["[redacted]"]}`,
		"Proxy-Authorization: Basic " + auth + "\r\nHost: a":               "Proxy-Authorization: [redacted]\r\nHost: a",
		"X-Secret-Key: " + canary:                                          "X-Secret-Key: [redacted]",
		"-H 'x-secret-key: " + canary + "' https://a":                      "-H 'x-secret-key: [redacted]' https://a",
		"X-Vault-Token: " + canary + "\nA: b":                              "X-Vault-Token: [redacted]\nA: b",
		"Set-Cookie: slipway=" + canary + "; HttpOnly\nA: b":               "Set-Cookie: [redacted]\nA: b",
		"curl with bearer " + canary + " failed":                           "curl with bearer [redacted] failed",
		"GET /images?api_key=" + jwt + " 404":                              "GET /images?api_key=[redacted] 404",
		"bad token " + jwt + ".":                                           "bad token [redacted].",
		`{"auths":{"quay.io":{"auth":"` + auth + `","email":"a@b"}}}`:      `{"auths":{"quay.io":{"auth":"[redacted]","email":"a@b"}}}`,
		"quay.io:\n  auth: " + auth + "\n":                                 "quay.io:\n  auth: [redacted]\n",
		"console=tty0 rd.iscsi.password=" + canary + " quiet":              "console=tty0 rd.iscsi.password=[redacted] quiet",
		"rd.iscsi.in.password=" + canary:                                   "rd.iscsi.in.password=[redacted]",
		"SITE_TOKEN=" + canary + " exec":                                   "SITE_TOKEN=[redacted] exec",
		"PGPASSWORD='c4narY secret9' pg_dump":                              "PGPASSWORD='[redacted]' pg_dump",
		"/download?a=b&token=" + canary + "&c=d":                           "/download?a=b&token=[redacted]&c=d",
		"podman login --password " + canary + " quay.io":                   "podman login --password [redacted] quay.io",
		"podman login --password=" + canary + " quay.io":                   "podman login --password=[redacted] quay.io",
		"kubeadmin-password: " + canary:                                    "kubeadmin-password: [redacted]",
		"bmc:\n  username: root\n  password: " + canary + "\n  a: b":       "bmc:\n  username: root\n  password: [redacted]\n  a: b",
		"- passwordHash: '" + canary + "'\n":                               "- passwordHash: '[redacted]'\n",
		"stringData: {password: " + canary + ", user: x}":                  "stringData: {password: [redacted], user: x}",
		"map[password:" + canary + " user:x]":                              "map[password:[redacted] user:x]",
		`{"passwd":{"users":[{"passwordHash":"` + canary + `"}]}}`:         `{"passwd":{"users":[{"passwordHash":"[redacted]"}]}}`,
		`{"password" : "a\"` + canary + `\\","b":"c"}`:                     `{"password" : "[redacted]","b":"c"}`,
		`{"password":1234567,"b":2}`:                                       `{"password":"[redacted]","b":2}`,
		`{"clientSecret":"` + canary + `"`:                                 `{"clientSecret":"[redacted]"`,
		`{"password":"` + canary:                                           `{"password":"[redacted]`,
		`{'token': '` + canary + `'}`:                                      `{'token': '[redacted]'}`,
		`aws_secret_access_key = x, "secret_access_key": "` + canary + `"`: `aws_secret_access_key = x, "secret_access_key": "[redacted]"`,
	} {
		got := redact.Text(text)
		require.Equal(t, want, got)
		require.NotContains(t, got, canary)
		require.Equal(t, got, redact.Text(got), "it is the same a second time")
	}
}

func TestSecretsOfJSONInJSONAreTakenOut(t *testing.T) {
	t.Parallel()
	for levels := range 4 {
		for _, secret := range []string{canary, `c4n"arY`, `c4n\`, "c4n\narY"} {
			text := within(t, map[string]any{"password": secret, "after": "stays"}, levels)
			got := redact.Text(text)
			require.NotContains(t, got, "c4n", text)
			require.Contains(t, got, "stays")
			var decoded any
			require.NoError(t, json.Unmarshal([]byte(got), &decoded), "%s became %s", text, got)
		}
		auths := map[string]any{"auths": map[string]any{"a": map[string]string{"auth": auth}}}
		require.NotContains(t, redact.Text(within(t, auths, levels)), auth)
	}
}

func TestPrivateKeysAreTakenOutWherever(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY"} {
		key := privateKey(t, kind)
		lines := strings.Split(key, "\n")
		for name, text := range map[string]string{
			"alone":          key,
			"in a text":      "read key: " + key + "no key",
			"in JSON":        within(t, map[string]string{"data": key}, 0),
			"in JSON twice":  within(t, map[string]string{"data": key}, 1),
			"cut":            "error: " + key[:len(key)-40],
			"without a head": strings.Join(lines[1:], "\n"),
			"in base64":      "data: " + base64.StdEncoding.EncodeToString([]byte(key)) + "\nnext: line",
			"of Ignition":    `"source":"data:;base64,` + base64.StdEncoding.EncodeToString([]byte(key)) + `"`,
		} {
			got := redact.Text(text)
			for _, line := range lines[1:4] {
				require.NotContains(t, got, line, "%s, %s", kind, name)
				require.NotContains(t, got, base64.StdEncoding.EncodeToString([]byte(line))[4:20], "%s, %s", kind, name)
			}
			require.Contains(t, got, redact.Mark)
			require.Equal(t, got, redact.Text(got))
		}
	}
}

func TestTextsWithoutSecretsStayAsTheyAre(t *testing.T) {
	t.Parallel()
	certificate := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: bytes.Repeat([]byte("certificate"), 60)}))
	public := string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: bytes.Repeat([]byte("public"), 20)}))
	image := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("\x89PNG picture"), 100))
	for _, text := range []string{
		"", "host registered", "cluster " + uuid.NewString() + " is ready",
		"quay.io/openshift-release-dev/ocp-release@sha256:" + strings.Repeat("ab12", 16),
		"pull http://registry.example.com:5000/a/b@sha256:" + strings.Repeat("ab12", 16),
		"https://192.0.2.1:6443/api?token_id=3&tokens=4", "ssh://core@192.0.2.7:22/x", "mail to admin@example.com: see http://a.b/c",
		certificate, public, "certificate-authority-data: " + base64.StdEncoding.EncodeToString([]byte(certificate)), image,
		`{"image":"` + image + `"}`, `{"digest":"sha256:` + strings.Repeat("ab12", 16) + `"}`,
		"read token: unexpected EOF", "the token is not valid: it has expired", "require a password of at least 8 characters, found 3",
		"open secrets of " + uuid.NewString() + " (was the key replaced?): sealed with an unknown key",
		"bearer authentication is required", "the authorization check refuses viewers", "authentication: none",
		"create Secret openshift-config/pull-secret", `secrets "pull-secret" not found`, "quay.io/site/oauth-token:4.16",
		`{"pull_secret_set":true,"token":null,"tokens":[1,2],"secrets":{"a":1}}`, "password: null", "password:", `{"password":""}`,
		"key 3f315057 encrypts from now on", "rd.iscsi.initiator=iqn.1994-05.com.redhat:e6be3fd0", "auth: required", "eyJhbGciOiJ",
		"x-request-id: 17",
		"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUMvekNDQWVlZ0F3", "step failed on host", "cookies are not kept",
	} {
		require.Equal(t, text, redact.Text(text))
	}
}

func TestNamesOfSecretsAreRecognised(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"password", "bmcPassword", "pullSecret", "pull_secret", "private-key", "wpa-psk", "preshared_key", "TOKEN"} {
		require.True(t, redact.Name(name), name)
	}
	for _, name := range []string{"user", "additionalTrustBundle", "sshKey", "publicKey", ""} {
		require.False(t, redact.Name(name), name)
	}
}

type stringer struct{ text string }

func (s stringer) String() string { return s.text }

func logged(t *testing.T, attrs ...any) string {
	t.Helper()
	var out bytes.Buffer
	for _, handler := range []slog.Handler{
		slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: redact.Attr}),
		slog.NewJSONHandler(&out, &slog.HandlerOptions{ReplaceAttr: redact.Attr}),
	} {
		slog.New(handler).Info("a message", attrs...)
		slog.New(handler).With(attrs...).WithGroup("g").Warn("another", slog.Group("h", attrs...))
	}
	return out.String()
}

func TestLogHasNoSecretInMessagesAndAttributes(t *testing.T) {
	t.Parallel()
	address := "http://user:" + canary + "@192.0.2.9"
	for name, value := range map[string]any{
		"text": address, "error": fmt.Errorf("get: %w", errors.New(address)), "stringer": stringer{address},
		"bytes": []byte("password=" + canary),
		"list":  []string{"a", address}, "map": map[string]string{"password": canary}, "struct": struct{ Address string }{address},
		"pointer": &struct{ Address string }{address},
	} {
		out := logged(t, name, value)
		require.NotContains(t, out, canary, name)
		require.Equal(t, 6, strings.Count(out, redact.Mark), "%s: %s", name, out)
	}
	var out bytes.Buffer
	slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: redact.Attr})).Info("proxy " + address)
	require.NotContains(t, out.String(), canary)
}

func TestLogWithoutSecretsIsAsBefore(t *testing.T) {
	t.Parallel()
	attrs := []any{
		"host", uuid.Nil, "error", errors.New("exit status 1"), "bytes", []byte("abc"), "list",
		[]string{"a", "b"},
		"n", 3, "none", nil,
		"map",
		map[string]int{"tokens": 3},
	}
	var plain, replaced bytes.Buffer
	noTime := func(a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	slog.New(slog.NewJSONHandler(&plain, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr { return noTime(a) },
	})).Info("step failed on host", attrs...)
	slog.New(slog.NewJSONHandler(&replaced, &slog.HandlerOptions{
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr { return noTime(redact.Attr(groups, a)) },
	})).Info("step failed on host", attrs...)
	require.Equal(t, plain.String(), replaced.String())
}

const cleanLine = "step failed on host 3f315057-0000-4000-8000-000000000001: write the image to /dev/sda: " +
	"exit status 1: no space left on device"

func TestCleanLinesAllocateNothing(t *testing.T) {
	attr := slog.String("message", cleanLine)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		_ = redact.Text(cleanLine)
		_ = redact.Attr(nil, attr)
	}))
}

func BenchmarkCleanLine(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(int64(len(cleanLine)))
	for b.Loop() {
		_ = redact.Text(cleanLine)
	}
}

func BenchmarkLineWithAWordOfSecrets(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_ = redact.Text("token of host 3f315057-0000-4000-8000-000000000001 is not valid: it has expired")
	}
}

func BenchmarkLogLine(b *testing.B) {
	for name, options := range map[string]*slog.HandlerOptions{"plain": {}, "redacted": {ReplaceAttr: redact.Attr}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			log := slog.New(slog.NewJSONHandler(io.Discard, options))
			for b.Loop() {
				log.Info("step failed on host", "type", "install", "exit_code", 1, "error", cleanLine)
			}
		})
	}
}

func FuzzText(f *testing.F) {
	for _, seed := range []string{
		"http://a:b@c", `{"password":"a\"b\\"}`, "password=[redacted]", "-----BEGIN PRIVATE KEY-----", "token: a", "auth: " + auth, jwt,
		`\\"token\\":\\"a`, "[token:[redacted]", "Authorization: Bearer [redacted]", "psk=a,psk=b", "{secret:a,secret:b}", "://:[redacted]x@",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		once := redact.Text(text)
		require.LessOrEqual(t, len(once), 8*len(text)+len(redact.Mark))
		require.Equal(t, once, redact.Text(once), "of %q", text)
		require.Equal(t, redact.Text("clean"), "clean")
	})
}

func TestLinesOfALogAreRedactedOneByOne(t *testing.T) {
	t.Parallel()
	key := privateKey(t, "RSA PRIVATE KEY")
	log := "begin\n  password: " + canary + "\n" + key + "between\n" + strings.Repeat(cleanLine+"\n", 3) +
		`{"token":"` + canary + `"}` + "\nlast http://a:" + canary + "@b"
	want := "begin\n  password: [redacted]\n-----BEGIN RSA PRIVATE KEY-----[redacted]-----END RSA PRIVATE KEY-----\nbetween\n" +
		strings.Repeat(cleanLine+"\n", 3) + `{"token":"[redacted]"}` + "\nlast http://a:[redacted]@b"
	require.Equal(t, want, redact.Lines(log))
	require.Equal(t, want, redact.Lines(want))
	clean := strings.Repeat(cleanLine+"\n", 1000)
	require.Equal(t, clean, redact.Lines(clean))
	require.NotContains(t, redact.Lines("x\n"+key[:len(key)-60]), strings.Split(key, "\n")[1], "a key that is cut at the end of the log")
	require.Empty(t, redact.Lines(""))
}

func BenchmarkLinesOfALog(b *testing.B) {
	log := strings.Repeat(strings.Repeat(cleanLine+"\n", 20)+"token of the host is not valid\n  password: "+canary+"\n", 5000)
	b.SetBytes(int64(len(log)))
	for b.Loop() {
		_ = redact.Lines(log)
	}
}
