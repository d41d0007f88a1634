package auth

import (
	"net/http"
	"net/url"
)

// Place is where a request carries the credential of a scheme: a header, or a parameter of the query.
type Place struct {
	Name  string
	query bool
}

// places lists the places of the security schemes of the API document (docs/reference/auth.md, "Places").
var places = map[Scheme]Place{
	SchemeUser:     {"Authorization", false},
	SchemeAgent:    {"X-Secret-Key", false},
	SchemeURL:      {"api_key", true},
	SchemeImage:    {"Image-Token", false},
	SchemeImageURL: {"image_token", true},
	SchemeWatcher:  {"Watcher-Authorization", false},
}

// Place returns where the credential of a scheme is; an unknown scheme has the zero Place.
func (s Scheme) Place() Place { return places[s] }

// Of returns the credential of a request; empty when it has none.
func (p Place) Of(r *http.Request) string {
	if p.query {
		return r.URL.Query().Get(p.Name)
	}
	return r.Header.Get(p.Name)
}

// Set puts a credential into a request.
func (p Place) Set(r *http.Request, credential string) {
	if !p.query {
		r.Header.Set(p.Name, credential)
		return
	}
	query := r.URL.Query()
	query.Set(p.Name, credential)
	r.URL.RawQuery = query.Encode()
}

// Query returns the query of an address that opens files of an InfraEnv; empty when its id is enough.
func (l ImageLink) Query() url.Values {
	switch l.Kind {
	case ByAPIKey:
		return url.Values{SchemeURL.Place().Name: {l.Value}}
	case ByToken:
		return url.Values{SchemeImageURL.Place().Name: {l.Value}}
	}
	return url.Values{}
}
