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
	plain, err := g.Sealer.Open(sealedKind, sealed, []byte(sessionPlace))
	if err != nil {
		return session{}, errSession
	}
	var s session
	if err := json.Unmarshal(plain, &s); err != nil || !g.Now().Before(s.Until) || g.hasEnded(cookie.Value) {
		return session{}, errSession
	}
	return s, nil
}

// begin gives the browser a session at each gate that admits the caller.
func (g *Gate) begin(w http.ResponseWriter, r *http.Request, caller auth.Caller, token string) error {
	s := session{Token: token, Until: g.Now().Add(sessionLength)}
	plain, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("write a session: %w", err)
	}
	value := base64.RawURLEncoding.EncodeToString(g.Sealer.Seal(sealedKind, plain, []byte(sessionPlace)))
	for _, one := range g.gates(caller) {
		one.setCookie(w, r, value, sessionLength)
	}
	return nil
}

// end takes the session from the browser, and refuses copies of it in this process.
func (g *Gate) end(w http.ResponseWriter, r *http.Request) {
	if s, err := g.session(r); err == nil {
		cookie, _ := r.Cookie(cookieName)
		g.sessions.end(digest(cookie.Value), s.Until, g.Now())
	}
	for _, one := range []*Gate{g, g.own, g.main} {
		if one != nil {
			one.setCookie(w, r, "", -time.Second)
		}
	}
}

// end keeps that a session has ended until it would expire.
func (s *sessions) end(id string, until, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for other, until := range s.ended {
		if !now.Before(until) {
			delete(s.ended, other)
		}
	}
	s.ended[id] = until
}

func (g *Gate) hasEnded(value string) bool {
	g.sessions.mu.Lock()
	defer g.sessions.mu.Unlock()
	_, ended := g.sessions.ended[digest(value)]
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
