package httpclient

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/wire"
)

// Reply is an answer, read whole.
type Reply struct {
	T      testing.TB
	Status int
	Header http.Header
	Body   []byte
}

// Send makes a request and reads its answer; redirects are not followed. A body that is no text and no reader is sent as JSON. Headers come
// in pairs.
func Send(t testing.TB, method, address string, body any, headers ...string) Reply {
	t.Helper()
	var content io.Reader = http.NoBody
	kind := ""
	switch b := body.(type) {
	case nil:
	case io.Reader:
		content = b
	case string:
		content, kind = bytes.NewReader([]byte(b)), "application/json"
	default:
		text, err := json.Marshal(b)
		require.NoError(t, err)
		content, kind = bytes.NewReader(text), "application/json"
	}
	request, err := http.NewRequestWithContext(t.Context(), method, address, content)
	require.NoError(t, err)
	if kind != "" {
		request.Header.Set("Content-Type", kind)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	client := New(t)
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	response, err := client.Do(request)
	require.NoError(t, err)
	return Read(t, response)
}

// Read reads an answer and closes it.
func Read(t testing.TB, response *http.Response) Reply {
	t.Helper()
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return Reply{t, response.StatusCode, response.Header, text}
}

// JSON reads the body into a value.
func (r Reply) JSON(into any) {
	r.T.Helper()
	require.NoError(r.T, json.Unmarshal(r.Body, into), "body: %s", r.Body)
}

// Object reads the body as a JSON object.
func (r Reply) Object() map[string]any {
	r.T.Helper()
	out := map[string]any{}
	r.JSON(&out)
	return out
}

// List reads the body as a JSON array of objects.
func (r Reply) List() []map[string]any {
	r.T.Helper()
	out := []map[string]any{}
	r.JSON(&out)
	return out
}

// Reason requires an error of a status and returns its sentence.
func (r Reply) Reason(status int) string {
	r.T.Helper()
	require.Equal(r.T, status, r.Status, "body: %s", r.Body)
	var e wire.Error
	r.JSON(&e)
	require.Equal(r.T, int32(status), e.ID)
	require.Equal(r.T, "Error", string(e.Kind))
	require.NotEmpty(r.T, e.Reason)
	return e.Reason
}

// Message requires a refusal in the shape of InfraError and returns its sentence.
func (r Reply) Message(status int) string {
	r.T.Helper()
	require.Equal(r.T, status, r.Status, "body: %s", r.Body)
	var e wire.InfraError
	r.JSON(&e)
	require.Equal(r.T, int32(status), e.Code)
	return e.Message
}
