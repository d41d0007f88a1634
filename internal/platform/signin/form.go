package signin

import (
	_ "embed"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"strings"

	"slipway/internal/model"
	"slipway/internal/platform/audit"
	"slipway/internal/platform/auth"
)

const (
	signInPath  = "/login" // where the pages of Temporal's UI send a browser whose request was answered with 401
	signOutPath = "/logout"
	// Where a sign-in at the issuer begins, and where it brings browsers back to.
	issuerPath   = "/sign-in"
	callbackPath = "/callback"
	returnParam  = "returnUrl" // as these pages call it
	tokenField   = "token"
	maxForm      = 64 << 10
)

//go:embed form.html
var formPage string

var form = template.Must(template.New("form").Parse(formPage))

// formValues holds the values that the form shows.
type formValues struct {
	SignIn, SignOut string // addresses
	Return          string // where a browser is sent that has signed in
	User            string // who is signed in; empty: no user
	Refused         string // why the token, or the user of the issuer, was not accepted
	Issuer, At      string // its name, and where a sign-in there begins; empty: there is none
	Forward         bool   // the browser continues by itself
}

func (g *Gate) showForm(w http.ResponseWriter, r *http.Request) {
	values := formValues{Return: g.destination(r.URL.Query().Get(returnParam))}
	if caller, err := g.caller(r); err == nil {
		values.User = caller.Name
	}
	g.writeForm(w, http.StatusOK, values)
}

// signIn begins a session with the token of the form.
func (g *Gate) signIn(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	values := formValues{Return: g.destination(r.PostFormValue(returnParam))}
	token := strings.TrimSpace(r.PostFormValue(tokenField))
	caller, err := g.identify(r.Context(), token)
	if err == nil && len(g.gates(caller)) == 0 {
		err = errForbidden
	}
	switch {
	case forbidden(err):
		values.Refused = err.Error()
		g.Log.Info("sign-in refused", "reason", values.Refused, "address", r.RemoteAddr)
		g.forbidSignIn(r, caller, model.AuditToken)
		g.writeForm(w, http.StatusForbidden, values)
		return
	case err != nil && unauthenticated(err):
		if values.Refused = reason(err); token == "" {
			values.Refused = "a token is required"
		}
		g.Log.Info("sign-in refused", "reason", values.Refused, "address", r.RemoteAddr)
		g.writeForm(w, http.StatusUnauthorized, values)
		return
	case err != nil:
		g.fail(w, err)
		return
	}
	g.recordSignIn(w, r, caller, model.AuditToken, func(w http.ResponseWriter, r *http.Request) {
		if err := g.begin(w, r, caller, token); err != nil {
			g.fail(w, err)
			return
		}
		g.Log.Info("user signed in", "user", caller.Name, "read_only", caller.ReadOnly())
		http.Redirect(w, r, destinationIn(values.Return, g.gates(caller)), http.StatusSeeOther)
	})
}

// recordSignIn lets begin start the session of a user, in the audit.
func (g *Gate) recordSignIn(
	w http.ResponseWriter, r *http.Request, caller auth.Caller, with model.AuditCredential, begin http.HandlerFunc,
) {
	e := g.signInEntry(r, caller, with)
	if err := g.Audit.Record(w, r, &e, begin); err != nil {
		g.Log.Error("sign-in refused: the audit takes no row", "user", caller.Name, "error", err)
		g.writeForm(w, http.StatusServiceUnavailable, formValues{
			Return: g.Path + "/", Refused: "the service cannot record the sign-in now: try again",
		})
	}
}

// forbidSignIn records a user who may not sign in. A token of one object is no user's.
func (g *Gate) forbidSignIn(r *http.Request, caller auth.Caller, with model.AuditCredential) {
	if caller.User() && !caller.Bound() {
		e := g.signInEntry(r, caller, with)
		g.Audit.Refused(r.Context(), &e, http.StatusForbidden)
	}
}

func (g *Gate) signInEntry(r *http.Request, caller auth.Caller, with model.AuditCredential) model.AuditEntry {
	e := audit.Entry(r, caller, with)
	e.Operation, e.Path = "SignIn", r.URL.Path // one of two
	return e
}

func (g *Gate) signOut(w http.ResponseWriter, r *http.Request) {
	g.end(w, r)
	http.Redirect(w, r, g.formPath(), http.StatusSeeOther)
}

// destination returns where to send a browser: a page of this gate or of the gate of own pages, whatever the request asks for.
func (g *Gate) destination(asked string) string {
	gates := []*Gate{g}
	if g.own != nil {
		gates = append(gates, g.own)
	}
	return destinationIn(asked, gates)
}

// destinationIn returns the page that is asked for if it is of one of the gates; else one that shows the same, or the first page of the
// first gate.
func destinationIn(asked string, gates []*Gate) string {
	u, err := url.Parse(asked)
	for _, g := range gates {
		// The folder itself is not below it once it is clean.
		if err == nil && strings.HasPrefix(path.Clean(u.Path), g.Path+"/") && u.Path != g.Path+signInPath {
			return (&url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery}).String()
		}
		if err == nil && u.Path == g.Path+"/" {
			return (&url.URL{Path: u.Path, RawQuery: u.RawQuery}).String()
		}
	}
	if page := gates[0].page; page != nil && err == nil {
		if same := page(u.Path); same != "" {
			return same
		}
	}
	return gates[0].Path + "/"
}

func (g *Gate) writeForm(w http.ResponseWriter, status int, values formValues) {
	values.SignIn, values.SignOut = g.Path+signInPath, g.Path+signOutPath
	if g.Issuer != nil {
		values.Issuer, values.At = g.Issuer.Name(), g.Path+issuerPath+"?"+url.Values{returnParam: {values.Return}}.Encode()
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Security-Policy",
		"default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	header.Set("Referrer-Policy", "same-origin")
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = form.Execute(w, values) // the browser has left
}

var _ Identity = (*auth.Local)(nil)
