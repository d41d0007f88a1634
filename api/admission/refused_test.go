package admission

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/httpapi"
)

func TestARefusedCredentialIsRefusedForAQuarterOfASecond(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 5, 0, 0, 0, time.UTC)
	f := newRefusals(func() time.Time { return now })
	tooMany := errors.New("too many")
	use := credentialUse{place: "X-Secret-Key", credential: "a", infraEnvID: uuid.New()}
	require.NoError(t, f.of(use))
	f.add(use, tooMany)
	require.ErrorIs(t, f.of(use), tooMany)
	for _, other := range []credentialUse{
		{place: "Authorization", credential: "a", infraEnvID: use.infraEnvID},
		{place: "X-Secret-Key", credential: "b", infraEnvID: use.infraEnvID},
		{place: "X-Secret-Key", credential: "a", infraEnvID: uuid.New()},
		{place: "X-Secret-Key", credential: "a", infraEnvID: use.infraEnvID, clusterID: uuid.New()},
	} {
		require.NoError(t, f.of(other), "%+v", other)
	}
	now = now.Add(249 * time.Millisecond)
	require.ErrorIs(t, f.of(use), tooMany)
	now = now.Add(time.Millisecond)
	require.NoError(t, f.of(use))
	require.Empty(t, f.all, "it is forgotten")
	for n := range 3 * maxRefused {
		f.add(credentialUse{credential: fmt.Sprint(n)}, tooMany)
		require.LessOrEqual(t, len(f.all), maxRefused)
	}
}

func TestRefusalsOfTooManyAndOfLargeBodiesAreHeld(t *testing.T) {
	t.Parallel()
	tooMany := httpapi.Errorf(httpapi.ErrTooMany, "too many")
	for _, c := range []struct {
		refusal error
		body    int
		held    time.Duration
	}{
		{nil, 10, 0},
		{nil, 2 << 20, 0},
		{httpapi.Errorf(httpapi.ErrUnauthenticated, "wrong"), 0, 0},
		{fmt.Errorf("%w: no", model.ErrInvalid), 1 << 20, 0},
		{fmt.Errorf("%w: no", model.ErrInvalid), 1<<20 + 1, time.Second},
		{errors.New("the database is gone"), 2 << 20, 0},
		{tooMany, 0, 100 * time.Millisecond},
		{tooMany, 2 << 20, time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(strings.Repeat(" ", c.body)))
			r = httpapi.Begin(httptest.NewRecorder(), r)
			httpapi.About(r).Err = c.refusal
			begun := time.Now()
			holdRefusal(r)
			require.Equal(t, c.held, time.Since(begun), "of the fake clock, for %v with %d bytes", c.refusal, c.body)
			gone, cancel := context.WithTimeout(r.Context(), time.Millisecond)
			defer cancel()
			holdRefusal(r.WithContext(gone))
			require.LessOrEqual(t, time.Since(begun), c.held+time.Millisecond, "the client is gone")
		})
	}
}

// beginning is a body of which only the beginning arrives.
type beginning struct {
	t    *testing.T
	text io.Reader
}

func (b beginning) Read(p []byte) (int, error) {
	n, err := b.text.Read(p)
	if err != nil {
		b.t.Error("the rest of the body was waited for")
	}
	return n, err
}

func TestALargeBodyThatIsNoObjectIsRefusedAsItBegins(t *testing.T) {
	t.Parallel()
	g := New(Options{Limits: DefaultLimits(), Now: time.Now})
	object := &operation{body: openapi3.NewObjectSchema(), limit: 32 << 20}
	gather := func(o *operation, body io.Reader) (*http.Request, func(), error) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", body)
		leave, err := g.gather(r, o, Caller{Name: "a"})
		return r, leave, err
	}
	for text, want := range map[string]string{
		" \r\n\t[1,": "require the type object, found a list", `"text`: `require a JSON object, found "\""`, "\x1f\x8b": `found "\x1f"`,
	} {
		_, _, err := gather(object, beginning{t, strings.NewReader(text + strings.Repeat(" ", 600))})
		require.ErrorContains(t, err, want, "%q", text)
	}
	list := `[` + strings.Repeat("1,", 1<<20) + `1]`
	for _, c := range []struct {
		operation *operation
		text      string
	}{
		{object, ` {"a":` + list + `}`},
		{object, strings.Repeat(" ", 700) + `[]`}, // it is read, and refused as all others
		{object, ""},
		{&operation{body: openapi3.NewArraySchema(), limit: 32 << 20}, list},
		{&operation{body: openapi3.NewSchema(), limit: 32 << 20}, list},
	} {
		r, leave, err := gather(c.operation, strings.NewReader(c.text))
		require.NoError(t, err)
		text, err := readBody(r)
		require.NoError(t, err)
		require.Equal(t, len(c.text), len(text))
		require.True(t, c.text == string(text))
		leave()
	}
}
