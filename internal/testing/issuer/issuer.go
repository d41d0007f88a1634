// Package issuer stands in for an issuer of OpenID Connect in tests. It is as strict as OpenID Connect Core 1.0 and Discovery 1.0,
// RFC 6749 (codes are used once, redirect addresses are equal), RFC 7636 (PKCE is required) and RFC 8628 (devices poll, and not too
// often) say; its tokens are good for five minutes, as Keycloak's are.
package issuer

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"
)

// Client is known to an issuer.
type Client struct {
	ID, Secret string // no secret: a public client
	Redirects  []string
}

// Issuer is one, with HTTPS on loopback.
type Issuer struct {
	*httptest.Server
	t *testing.T

	mu      sync.Mutex
	clients map[string]Client
	kid     string
	key     *rsa.PrivateKey
	browser map[string]any // claims of the user of the browser; nil: none
	codes   map[string]grant
	devices map[string]*device
	fetched int
}

type grant struct {
	client, redirect, challenge, nonce string
	claims                             map[string]any
	until                              time.Time
}

type device struct {
	client, userCode string
	claims           map[string]any // nil: not approved yet
	polled           time.Time
}

// New starts an issuer.
func New(t *testing.T, clients ...Client) *Issuer {
	t.Helper()
	i := &Issuer{t: t, clients: map[string]Client{}, codes: map[string]grant{}, devices: map[string]*device{}}
	for _, c := range clients {
		i.clients[c.ID] = c
	}
	i.Rotate()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", i.configuration)
	mux.HandleFunc("GET /keys", i.keys)
	mux.HandleFunc("GET /authorize", i.authorize)
	mux.HandleFunc("POST /token", i.token)
	mux.HandleFunc("POST /device", i.device)
	i.Server = httptest.NewTLSServer(mux)
	t.Cleanup(i.Close)
	return i
}

// Authority returns the certificate to trust, PEM.
func (i *Issuer) Authority() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.Certificate().Raw})
}

// Rotate replaces the signing key; the one before is not published any more.
func (i *Issuer) Rotate() {
	i.t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(i.t, err)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.key, i.kid = key, rand.Text()
}

// SignIn gives the browser a user with claims, nil: none.
func (i *Issuer) SignIn(claims map[string]any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.browser = claims
}

// Approve lets the device with a user code in; it reports whether there is one.
func (i *Issuer) Approve(userCode string, claims map[string]any) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, d := range i.devices {
		if d.userCode == userCode {
			d.claims = claims
			return true
		}
	}
	return false
}

// KeysFetched returns how often the keys were asked for.
func (i *Issuer) KeysFetched() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.fetched
}

// Token signs an ID token for an audience.
func (i *Issuer) Token(audience string, claims map[string]any) string {
	i.t.Helper()
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.sign(audience, "", claims)
}

func (i *Issuer) sign(audience, nonce string, claims map[string]any) string {
	all := jwt.MapClaims{
		"iss": i.URL, "sub": fmt.Sprintf("subject of %v", claims["preferred_username"]), "aud": audience,
		"iat": now().Unix(), "exp": now().Add(5 * time.Minute).Unix(),
	}
	if nonce != "" {
		all["nonce"] = nonce
	}
	maps.Copy(all, claims)
	token := jwt.NewWithClaims(jwt.SigningMethodRS256, all)
	token.Header["kid"] = i.kid
	text, err := token.SignedString(i.key)
	require.NoError(i.t, err)
	return text
}

// now reads the issuer's own clock.
func now() time.Time { return time.Now() } //nolint:forbidigo // another machine's

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// refuse answers with the error of RFC 6749 5.2.
func refuse(w http.ResponseWriter, code string) {
	status := http.StatusBadRequest
	if code == "invalid_client" {
		status = http.StatusUnauthorized
	}
	answer(w, status, map[string]string{"error": code})
}

func (i *Issuer) configuration(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{
		"issuer": i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token", "jwks_uri": i.URL + "/keys",
		"device_authorization_endpoint": i.URL + "/device", "response_types_supported": []string{"code"},
		"subject_types_supported": []string{"public"}, "id_token_signing_alg_values_supported": []string{"RS256"},
		"code_challenge_methods_supported": []string{"S256"},
	})
}

func (i *Issuer) keys(w http.ResponseWriter, _ *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.fetched++
	answer(w, http.StatusOK, map[string]any{"keys": []map[string]string{{
		"kty": "RSA", "use": "sig", "alg": "RS256", "kid": i.kid,
		"n": base64.RawURLEncoding.EncodeToString(i.key.N.Bytes()),
		"e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(i.key.E)).Bytes()),
	}}})
}

func (i *Issuer) authorize(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	q := r.URL.Query()
	client, known := i.clients[q.Get("client_id")]
	if !known || !slices.Contains(client.Redirects, q.Get("redirect_uri")) {
		http.Error(w, "unknown client or redirect_uri", http.StatusBadRequest) // never a redirect: RFC 6749 4.1.2.1
		return
	}
	back := url.Values{"state": {q.Get("state")}}
	switch {
	case q.Get("response_type") != "code", q.Get("code_challenge_method") != "S256", q.Get("code_challenge") == "":
		back.Set("error", "invalid_request")
	case !slices.Contains(strings.Fields(q.Get("scope")), "openid"):
		back.Set("error", "invalid_scope")
	case i.browser == nil:
		back.Set("error", "access_denied")
		back.Set("error_description", "<b>the user went away</b>")
	default:
		code := rand.Text()
		i.codes[code] = grant{
			client.ID, q.Get("redirect_uri"), q.Get("code_challenge"), q.Get("nonce"), i.browser, now().Add(time.Minute),
		}
		back.Set("code", code)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

// client authenticates one (RFC 6749 2.3.1).
func (i *Issuer) client(r *http.Request) (Client, bool) {
	id, secret, basic := r.BasicAuth()
	if !basic {
		id, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	c, known := i.clients[id]
	return c, known && c.Secret == secret
}

func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	client, known := i.client(r)
	if !known {
		refuse(w, "invalid_client")
		return
	}
	switch r.PostFormValue("grant_type") {
	case "authorization_code":
		g, known := i.codes[r.PostFormValue("code")]
		delete(i.codes, r.PostFormValue("code"))
		sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
		if !known || g.client != client.ID || g.redirect != r.PostFormValue("redirect_uri") || !now().Before(g.until) ||
			g.challenge != base64.RawURLEncoding.EncodeToString(sum[:]) {
			refuse(w, "invalid_grant")
			return
		}
		i.grant(w, client.ID, g.nonce, g.claims)
	case "urn:ietf:params:oauth:grant-type:device_code":
		i.deviceToken(w, client, r.PostFormValue("device_code"))
	default:
		refuse(w, "unsupported_grant_type")
	}
}

func (i *Issuer) deviceToken(w http.ResponseWriter, client Client, code string) {
	d := i.devices[code]
	switch {
	case d == nil || d.client != client.ID:
		refuse(w, "invalid_grant")
	case now().Sub(d.polled) < time.Second:
		refuse(w, "slow_down")
	case d.claims == nil:
		d.polled = now()
		refuse(w, "authorization_pending")
	default:
		delete(i.devices, code)
		i.grant(w, client.ID, "", d.claims)
	}
}

func (i *Issuer) grant(w http.ResponseWriter, client, nonce string, claims map[string]any) {
	answer(w, http.StatusOK, map[string]any{
		"access_token": rand.Text(), "token_type": "Bearer", "expires_in": 300, "id_token": i.sign(client, nonce, claims),
	})
}

func (i *Issuer) device(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	client, known := i.client(r)
	if !known {
		refuse(w, "invalid_client")
		return
	}
	code, userCode := rand.Text(), rand.Text()[:4]+"-"+rand.Text()[:4]
	i.devices[code] = &device{client: client.ID, userCode: userCode}
	answer(w, http.StatusOK, map[string]any{
		"device_code": code, "user_code": userCode, "verification_uri": i.URL + "/activate",
		"verification_uri_complete": i.URL + "/activate?user_code=" + userCode, "expires_in": 600, "interval": 1,
	})
}

// Allow lets a client send browsers back to an address.
func (i *Issuer) Allow(id, redirect string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	c := i.clients[id]
	c.Redirects = append(c.Redirects, redirect)
	i.clients[id] = c
}
