package signin

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"slipway/internal/model"
	"slipway/internal/platform/audit"
	"slipway/internal/platform/auth"
)

const (
	attemptCookie = "slipway_sign_in"
	// attemptLength is how long a user may take at the issuer.
	attemptLength = 15 * time.Minute
	attemptPlace  = "sign-in at the issuer"
)

// attempt is a sign-in that has begun: what the issuer brings back has to be of it (RFC 6749 10.12, RFC 7636, OpenID Connect Core 3.1.2.1).
type attempt struct {
	State    string    `json:"state"`
	Nonce    string    `json:"nonce"`
	Verifier string    `json:"verifier"`
	Return   string    `json:"return"`
	Until    time.Time `json:"until"`
}

func (g *Gate) redirect() string { return g.BaseURL + g.Path + callbackPath }

// toIssuer sends a browser to the issuer.
func (g *Gate) toIssuer(w http.ResponseWriter, r *http.Request) {
	a := attempt{
		State: rand.Text(), Nonce: rand.Text(), Verifier: rand.Text() + rand.Text(),
		Return: g.destination(r.URL.Query().Get(returnParam)), Until: g.Now().Add(attemptLength),
	}
	address, err := g.Issuer.SignInAddress(r.Context(), g.redirect(), a.State, a.Nonce, a.Verifier)
	if err != nil {
		g.refuseSignIn(w, r, a.Return, err)
		return
	}
	plain, err := json.Marshal(a)
	if err != nil {
		g.fail(w, err)
		return
	}
	g.setAttempt(w, r, base64.RawURLEncoding.EncodeToString(g.Sealer.Seal(sealedKind, plain, []byte(attemptPlace))), attemptLength)
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, address, http.StatusSeeOther)
}

// setAttempt keeps an attempt in the browser. It is sent with the redirect of the issuer, another site: no SameSite=Strict.
func (g *Gate) setAttempt(w http.ResponseWriter, r *http.Request, value string, length time.Duration) {
	http.SetCookie(w, &http.Cookie{
		Name: attemptCookie, Value: value, Path: g.Path + callbackPath, MaxAge: int(length.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: g.Secure || r.TLS != nil,
	})
}

// fromIssuer begins the session of a user who comes back from the issuer.
func (g *Gate) fromIssuer(w http.ResponseWriter, r *http.Request) {
	a, err := g.attempt(r)
	g.setAttempt(w, r, "", -time.Second)
	if err != nil {
		g.refuseSignIn(w, r, g.Path+"/", err)
		return
	}
	query := r.URL.Query()
	if code := query.Get("error"); code != "" {
		g.refuseSignIn(w, r, a.Return, auth.Refusedf("the issuer answers %q %q", code, query.Get("error_description")))
		return
	}
	caller, err := g.Issuer.Redeem(r.Context(), g.redirect(), query.Get("code"), a.Nonce, a.Verifier)
	if err == nil && len(g.gates(caller)) == 0 {
		err = errForbidden
		g.forbidSignIn(r, caller, model.AuditOIDC)
	}
	if err != nil {
		g.refuseSignIn(w, r, a.Return, err)
		return
	}
	g.recordSignIn(w, r, caller, model.AuditOIDC, func(w http.ResponseWriter, r *http.Request) { g.fromUser(w, r, a, caller) })
}

// fromUser begins the session of a user whom the issuer has identified.
func (g *Gate) fromUser(w http.ResponseWriter, r *http.Request, a attempt, caller auth.Caller) {
	made, token, err := g.Issuer.Begin(r.Context(), caller)
	if err == nil {
		err = g.begin(w, r, caller, token.Reveal())
	}
	if err != nil {
		g.refuseSignIn(w, r, a.Return, err)
		return
	}
	audit.Add(r.Context(), func(e *model.AuditEntry) { e.Subject = made.ID.String() })
	g.Log.Info("user signed in", "user", caller.Name, "issuer", caller.Issuer, "read_only", caller.ReadOnly())
	// A page, because a redirect that another site began carries no session (SameSite=Strict).
	g.writeForm(w, http.StatusOK, formValues{Return: destinationIn(a.Return, g.gates(caller)), User: caller.Name, Forward: true})
}

// attempt returns the attempt that the browser began and the issuer answers.
func (g *Gate) attempt(r *http.Request) (attempt, error) {
	var a attempt
	cookie, err := r.Cookie(attemptCookie)
	if err != nil {
		return a, auth.Refusedf("this browser has begun no sign-in, or took longer than %s", attemptLength)
	}
	sealed, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil {
		return a, auth.Refusedf("the sign-in was not begun here")
	}
	plain, err := g.Sealer.Open(sealedKind, sealed, []byte(attemptPlace))
	if err != nil {
		return a, auth.Refusedf("the sign-in was not begun here")
	}
	if err := json.Unmarshal(plain, &a); err != nil {
		return a, fmt.Errorf("read a sign-in: %w", err)
	}
	if !g.Now().Before(a.Until) || subtle.ConstantTimeCompare([]byte(a.State), []byte(r.URL.Query().Get("state"))) == 0 {
		return a, auth.Refusedf("the answer of the issuer is of another sign-in: begin again")
	}
	return a, nil
}

// refuseSignIn shows the form with why a sign-in at the issuer failed.
func (g *Gate) refuseSignIn(w http.ResponseWriter, r *http.Request, destination string, err error) {
	values, status := formValues{Return: destination}, http.StatusUnauthorized
	switch {
	case unauthenticated(err):
		values.Refused = reason(err)
	case forbidden(err):
		values.Refused, status = err.Error(), http.StatusForbidden
	default:
		g.Log.Error("sign-in at the issuer failed", "error", err)
		values.Refused, status = "the issuer "+g.Issuer.Name()+" cannot be asked; the log of the service has the reason", http.StatusBadGateway
	}
	g.Log.Info("sign-in refused", "reason", values.Refused, "address", r.RemoteAddr)
	g.writeForm(w, status, values)
}
