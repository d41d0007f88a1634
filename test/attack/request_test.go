package attack_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// v2 and own are where the service has its two APIs.
const (
	v2  = "/api/assisted-install/v2"
	own = "/api/slipway/v1"
)

// credential is a header that a request is sent with; the zero value is none.
type credential struct{ header, value string }

// bearer makes the credential of a user, secretKey of a machine.
func bearer(token string) credential    { return credential{"Authorization", "Bearer " + token} }
func secretKey(token string) credential { return credential{"X-Secret-Key", token} }

// request has everything but the credential.
type request struct {
	method, path string
	body         []byte
	headers      []string // names and values
}

func get(path string) request    { return request{method: http.MethodGet, path: path} }
func remove(path string) request { return request{method: http.MethodDelete, path: path} }

// post sends fields of JSON; nil: no body.
func post(path string, fields map[string]any) request { return withJSON(http.MethodPost, path, fields) }

func put(path string, fields map[string]any) request { return withJSON(http.MethodPut, path, fields) }

func patch(path string, fields map[string]any) request {
	return withJSON(http.MethodPatch, path, fields)
}

func withJSON(method, path string, fields map[string]any) request {
	r := request{method: method, path: path}
	if fields != nil {
		r.body, _ = json.Marshal(fields)
		r.headers = []string{"Content-Type", "application/json"}
	}
	return r
}

// upload sends a file in a form, as agents send logs.
func upload(path, content string) request {
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	file, _ := w.CreateFormFile("upfile", "logs.tar.gz")
	_, _ = io.WriteString(file, content)
	_ = w.Close()
	return request{http.MethodPost, path, form.Bytes(), []string{"Content-Type", w.FormDataContentType()}}
}

// with returns the request with another header.
func (r request) with(name, value string) request {
	r.headers = append(append([]string(nil), r.headers...), name, value)
	return r
}

func (r request) String() string {
	path := shorten(r.path)
	return r.method + " " + strings.TrimPrefix(strings.TrimPrefix(path, v2), own)
}

var (
	anyID    = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)
	anyToken = regexp.MustCompile(`eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{20,}`)
)

// shorten leaves out ids and tokens, which say nothing to readers and open something.
func shorten(path string) string {
	return anyToken.ReplaceAllString(anyID.ReplaceAllString(path, "ID"), "TOKEN")
}

// answer has the parts of an answer that chains look at.
type answer struct {
	code   int
	body   string
	header http.Header
}

// field returns a text of a JSON answer.
func (a answer) field(name string) string {
	var fields map[string]any
	_ = json.Unmarshal([]byte(a.body), &fields)
	text, _ := fields[name].(string)
	return text
}

// ask sends a request to the service, and again where it asks for that later.
func (w *target) ask(t require.TestingT, c credential, r request) answer {
	for {
		got := w.once(t, c, r)
		if got.code != http.StatusTooManyRequests {
			return got
		}
		seconds, err := strconv.Atoi(got.header.Get("Retry-After"))
		require.NoError(t, err)
		time.Sleep(time.Duration(seconds) * time.Second)
	}
}

// once sends a request to the service.
func (w *target) once(t require.TestingT, c credential, r request) answer {
	address := r.path
	if strings.HasPrefix(address, "/") {
		address = w.url + address
	}
	out, err := http.NewRequest(r.method, address, bytes.NewReader(r.body))
	require.NoError(t, err)
	for i := 0; i < len(r.headers); i += 2 {
		if r.headers[i] == "Host" {
			out.Host = r.headers[i+1]
			continue
		}
		out.Header.Set(r.headers[i], r.headers[i+1])
	}
	if c.header != "" {
		out.Header.Set(c.header, c.value)
	}
	back, err := w.http.Do(out)
	require.NoError(t, err)
	defer back.Body.Close()
	text, err := io.ReadAll(back.Body)
	require.NoError(t, err)
	return answer{back.StatusCode, string(text), back.Header}
}

// must sends a request that has to work, to prepare something.
func (w *target) must(t require.TestingT, c credential, r request) answer {
	a := w.ask(t, c, r)
	require.Less(t, a.code, 300, "%s: %s", r, a.body)
	return a
}

var inBase64 = regexp.MustCompile(`[A-Za-z0-9+/=]{24,}`)

// tokensIn finds signed tokens in a file, also within files that it contains in base64.
func tokensIn(text string) []string {
	found := anyToken.FindAllString(text, -1)
	for _, encoded := range inBase64.FindAllString(text, -1) {
		if plain, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			found = append(found, tokensIn(string(plain))...)
		}
	}
	return found
}

// claimsOf returns what a token says.
func claimsOf(token string) map[string]any {
	var claims map[string]any
	if parts := strings.Split(token, "."); len(parts) == 3 {
		plain, _ := base64.RawURLEncoding.DecodeString(parts[1])
		_ = json.Unmarshal(plain, &claims)
	}
	return claims
}

// encodeClaims writes a part of a token.
func encodeClaims(claims map[string]any) string {
	text, _ := json.Marshal(claims)
	return base64.RawURLEncoding.EncodeToString(text)
}

// inBase64Of encodes a text as files and pull secrets do.
func inBase64Of(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// address makes a path of the v2 API.
func address(format string, parts ...any) string { return v2 + fmt.Sprintf(format, parts...) }
