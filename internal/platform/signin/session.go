package signin

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"slipway/internal/platform/auth"
)

const (
	cookieName = "slipway_session"
	// sessionLength is a working day. A session ends earlier with its token.
	sessionLength = 12 * time.Hour
	// Sessions are sealed for sessionPlace: no other sealed value is one.
	sessionPlace = "session of web pages"
)

// session is the content of the cookie, sealed: the API does not accept it as a token, and the token in it is checked with every request.
type session struct {
	Token string    `json:"token"`
	Until time.Time `json:"until"`
}

var errSession = fmt.Errorf("%w: the session has ended", auth.ErrRefused)

// session returns the session of a request, or an auth.ErrRefused when it has ended.
func (g *Gate) session(r *http.Request) (session, error) {
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		return session{}, errNone
	}
	sealed, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil {
		return session{}, errSession
	}
	plain, err := g.Sealer.Open(sealed, []byte(sessionPlace))
	if err != nil {
		return session{}, errSession
	}
	var s session
	if err := json.Unmarshal(plain, &s); err != nil || !g.Now().Before(s.Until) || g.hasEnded(cookie.Value) {
		return session{}, errSession
	}
	return s, nil
}

// begin gives the browser a session.
func (g *Gate) begin(w http.ResponseWriter, r *http.Request, token string) error {
	s := session{Token: token, Until: g.Now().Add(sessionLength)}
	plain, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("write a session: %w", err)
	}
	g.setCookie(w, r, base64.RawURLEncoding.EncodeToString(g.Sealer.Seal(plain, []byte(sessionPlace))), sessionLength)
	return nil
}

// end takes the session from the browser, and refuses copies of it in this process.
func (g *Gate) end(w http.ResponseWriter, r *http.Request) {
	if s, err := g.session(r); err == nil {
		cookie, _ := r.Cookie(cookieName)
		g.mu.Lock()
		for id, until := range g.ended {
			if !g.Now().Before(until) {
				delete(g.ended, id)
			}
		}
		g.ended[digest(cookie.Value)] = s.Until
		g.mu.Unlock()
	}
	g.setCookie(w, r, "", -time.Second)
}

func (g *Gate) hasEnded(value string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, ended := g.ended[digest(value)]
	return ended
}

func digest(value string) string {
	sum := sha256.Sum256([]byte(value))
	return string(sum[:])
}

func (g *Gate) setCookie(w http.ResponseWriter, r *http.Request, value string, length time.Duration) {
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Value: value, Path: g.Path, MaxAge: int(length.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: g.Secure || r.TLS != nil,
	})
}
