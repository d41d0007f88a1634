package api_test

import (
	"crypto/elliptic"
	"encoding/base64"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/api"
	"slipway/internal/platform/auth"
)

// Attack: floods with one token, and with wrong ones.
func TestFloodsAreAnsweredWithATimeToComeAgain(t *testing.T) {
	t.Parallel()
	l := newPerHost(t)
	now := time.Now()
	var options api.Options
	l.service = newService(t, func(o *api.Options) { o.Now = func() time.Time { return now }; options = *o })
	l.tokens.TokenKey = l.store.TokenKey
	options.Identity = l.tokens
	l.closed = &service{
		t: t, url: serve(t, options), store: l.store, blob: l.blob, logged: l.logged, orchestrator: l.orchestrator, tags: l.tags,
	}
	e := l.infraEnv(uuid.Nil)
	flooding, quiet := l.host(e.ID), l.host(e.ID)
	poll := func(host uuid.UUID, token string) reply {
		return l.closed.send(http.MethodGet, hostPath(e.ID, host)+"/instructions", nil, "X-Secret-Key", token)
	}
	own, other := l.hostToken(e.ID, flooding.ID), l.hostToken(e.ID, quiet.ID)
	statuses := map[int]int{}
	for range 400 {
		statuses[poll(flooding.ID, own).Status]++
	}
	require.Equal(t, map[int]int{http.StatusOK: 300, http.StatusTooManyRequests: 100}, statuses)
	require.Equal(t, "5", poll(flooding.ID, own).Header.Get("Retry-After"))
	for _, spelling := range []string{"Bearer " + own, "Bearer    " + own, "Bearer \t" + own, mirrored(t, own)} {
		require.Equal(t, http.StatusTooManyRequests, poll(flooding.ID, spelling).Status, "%q is the same credential", spelling)
	}
	require.Equal(t, http.StatusOK, poll(quiet.ID, other).Status, "another host is not held up")

	statuses = map[int]int{}
	for n := range 1200 {
		statuses[poll(quiet.ID, fmt.Sprintf("wrong-%d", n)).Status]++
	}
	require.Equal(t, map[int]int{http.StatusUnauthorized: 1000, http.StatusTooManyRequests: 200}, statuses)
	require.Equal(t, http.StatusOK, poll(quiet.ID, other).Status, "nor by those who try at the same address")

	now = now.Add(2 * time.Second)
	require.Equal(t, http.StatusOK, poll(flooding.ID, own).Status)
	require.Equal(t, http.StatusUnauthorized, poll(quiet.ID, "wrong").Status)
	user := l.token(auth.Grant{Scheme: auth.SchemeUser})
	l.closed.want(http.StatusOK, http.MethodGet, "/v2/clusters", nil, "Authorization", user)
}

// mirrored returns the token with the other signature (r, n-s) that ECDSA has for the same text.
func mirrored(t *testing.T, token string) string {
	t.Helper()
	parts := strings.Split(token, ".")
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	require.NoError(t, err)
	s := new(big.Int).Sub(elliptic.P256().Params().N, new(big.Int).SetBytes(signature[32:]))
	s.FillBytes(signature[32:])
	parts[2] = base64.RawURLEncoding.EncodeToString(signature)
	return strings.Join(parts, ".")
}
