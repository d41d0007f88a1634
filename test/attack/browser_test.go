package attack_test

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/stretchr/testify/require"
)

const formType = "application/x-www-form-urlencoded"

// signIn makes the form that a browser sends.
func signIn(token, site string) request {
	form := url.Values{"token": {token}, "returnUrl": {"/temporal/"}}.Encode()
	return request{http.MethodPost, "/temporal/login", []byte(form), []string{"Content-Type", formType, "Sec-Fetch-Site", site}}
}

// session signs in as a browser does, and returns its cookie.
func (w *target) session(t require.TestingT, token string) credential {
	got := w.ask(t, credential{}, signIn(token, "same-origin"))
	cookie, _, _ := strings.Cut(got.header.Get("Set-Cookie"), ";")
	return credential{"Cookie", cookie}
}

// siteCommandsThroughABrowser sends what a page of another site has the browser of an administrator send, who is signed in: it cannot add
// headers, but cookies, and its own name for the service. Then the same with an administrator's token, which a page may have found.
func siteCommandsThroughABrowser(a *attempt) {
	token := strings.TrimPrefix(a.admin.value, "Bearer ")
	cookie := a.session(a, token)
	require.Contains(a, cookie.value, "=", "signed in")
	pages := get("/temporal/api/v1/namespaces")
	a.control(cookie, pages.with("Sec-Fetch-Site", "same-origin"))
	install := request{
		http.MethodPost, own + "/clusters/" + a.busy.cluster + "/commands/pause", []byte("{}"), []string{"Content-Type", "text/plain"},
	}
	cancel := post(address("/clusters/%s/actions/cancel", a.busy.cluster), nil)
	for _, r := range []request{get(v2 + "/clusters"), get(a.fileOf(a.done, "kubeconfig")), install, cancel} {
		a.refused(cookie, r.with("Sec-Fetch-Site", "cross-site"), 401, 403, 415)
		a.refused(cookie, r.with("Sec-Fetch-Site", "same-origin"), 401, 415) // also a page of the service: a session is no token
	}
	change := request{
		http.MethodPost, "/temporal/api/v1/namespaces/slipway/workflows/cluster:" + a.busy.cluster + "/terminate", []byte("{}"),
		[]string{"Content-Type", "application/json"},
	}
	a.refused(cookie, change.with("Sec-Fetch-Site", "cross-site"), 403)
	a.refused(cookie, change.with("Origin", "https://attacker.example"), 403)
	a.refused(credential{}, signIn(token, "cross-site"), 403)

	elsewhere := "attacker.example:" + strings.Split(a.url, ":")[2]
	for _, c := range []credential{cookie, a.admin} {
		for _, r := range []request{get(v2 + "/clusters"), get(a.fileOf(a.done, "kubeconfig")), cancel, pages, get("/docs")} {
			a.refused(c, r.with("Host", elsewhere), 421)
			a.refused(c, r.with("Host", elsewhere).with("Origin", "https://"+elsewhere), 421)
		}
	}
	for _, r := range []request{install, cancel} {
		a.refused(a.admin, r.with("Sec-Fetch-Site", "cross-site"), 403)
		a.refused(a.admin, r.with("Origin", "https://attacker.example"), 403)
	}
	a.control(a.admin, get(v2+"/clusters"))
}

// userCommandsWorkflows signs in at the form of the pages of workflows, which are of all tenants, and sends commands there: the session is
// for the user's own pages alone.
func userCommandsWorkflows(a *attempt) {
	terminate := post("/temporal/api/v1/namespaces/slipway/workflows/cluster:"+a.busy.cluster+"/terminate", map[string]any{"reason": "x"})
	reads := get("/temporal/api/v1/namespaces/slipway/workflows")
	for _, c := range []credential{a.mallory, a.alice} {
		own := a.session(a, strings.TrimPrefix(c.value, "Bearer "))
		require.Contains(a, own.value, "=", "signed in")
		a.control(own, get("/installations/"))
		for _, r := range []request{
			reads, terminate, post("/temporal-codec/decode", map[string]any{}), post("/temporal/codec/decode", map[string]any{}),
		} {
			a.refused(c, r, 403)
			a.refused(own, r.with("Sec-Fetch-Site", "same-origin"), 401, 403)
		}
	}
	// A viewer reads them; his session changes nothing either.
	viewing := a.session(a, strings.TrimPrefix(a.viewer.value, "Bearer "))
	a.step(viewing, reads)
	a.refused(viewing, terminate.with("Sec-Fetch-Site", "same-origin"), 403)
	a.refused(a.viewer, terminate, 403)
	a.refused(a.viewer, post("/temporal-codec/encode", map[string]any{}), 403)
	for _, c := range []credential{secretKey(a.image), secretKey(a.tokenOf(a, a.busy)), bearer(a.image)} {
		a.refused(c, reads, 401)
	}
	a.control(a.admin, reads)
}
