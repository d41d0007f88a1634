package api

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"slipway/internal/model"
	"slipway/internal/platform/auth"
	"slipway/internal/wire"
)

// imageCredential is what opens an environment, in the place where the API looks for it.
type imageCredential struct {
	scheme auth.Scheme // empty: none
	value  string
}

// set puts the credential into a request to the API.
func (c imageCredential) set(r *http.Request) {
	place := places[c.scheme]
	switch {
	case c.scheme == "":
	case place.query:
		query := r.URL.Query()
		query.Set(place.name, c.value)
		r.URL.RawQuery = query.Encode()
	default:
		r.Header.Set(place.name, c.value)
	}
}

// readID reads the environment of an address that names it.
func readID(r *http.Request, ask *imageRequest) error {
	text := chi.URLParam(r, "infra_env_id")
	id, err := uuid.Parse(text)
	if err != nil || len(text) != len(uuid.Nil.String()) {
		return model.Invalidf("infra_env_id: require a UUID, found %q", text)
	}
	ask.infraEnvID = id
	return nil
}

func readAPIKey(r *http.Request, ask *imageRequest) error {
	return readTokenOf(chi.URLParam(r, "api_key"), auth.SchemeURL, ask)
}

func readToken(r *http.Request, ask *imageRequest) error {
	return readTokenOf(chi.URLParam(r, "token"), auth.SchemeImage, ask)
}

// readTokenOf reads the environment out of a token (docs/reference/images.md, "InfraEnv
// of a token"). It proves nothing: the API verifies what it is sent.
func readTokenOf(token string, scheme auth.Scheme, ask *imageRequest) error {
	var claims struct {
		Subject    string `json:"sub"`
		InfraEnvID string `json:"infra_env_id"`
	}
	parts := strings.SplitN(token, ".", 4) // a megabyte of dots is no token
	if len(parts) == 3 {
		if payload, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "=")); err == nil {
			_ = json.Unmarshal(payload, &claims) // what cannot be read names no environment
		}
	}
	id, err := uuid.Parse(or(claims.InfraEnvID, claims.Subject))
	if err != nil {
		return reasonf(ErrUnauthenticated, "require a token of an infra-env in the address, found one that names none")
	}
	ask.infraEnvID, ask.credential = id, imageCredential{scheme, token}
	return nil
}

// readCredential reads what opens the environment from elsewhere than the path. What is
// in the path wins, and of the others the api_key, the image_token, the header of users
// (docs/reference/images.md, "Order of credentials"): only the token of a path gives way
// to an api_key.
func readCredential(r *http.Request, ask *imageRequest) error {
	query := r.URL.Query()
	if ask.credential.scheme == auth.SchemeURL {
		return nil
	}
	if key := query.Get(places[auth.SchemeURL].name); key != "" {
		ask.credential = imageCredential{auth.SchemeURL, key}
		return nil
	}
	if ask.credential.scheme != "" {
		return nil
	}
	if token := query.Get(places[auth.SchemeImageURL].name); token != "" {
		ask.credential = imageCredential{auth.SchemeImage, token}
	} else if user := r.Header.Get(places[auth.SchemeUser].name); user != "" {
		ask.credential = imageCredential{auth.SchemeUser, user}
	}
	return nil
}

// shortForm reads the addresses that are given out: version, architecture and file name.
func shortForm(r *http.Request, ask *imageRequest) error {
	ask.version, ask.arch = chi.URLParam(r, "version"), chi.URLParam(r, "arch")
	file := chi.URLParam(r, "file")
	name, isISO := strings.CutSuffix(file, ".iso")
	if !isISO || !slices.Contains(imageTypes, name+"-iso") {
		return model.NotFoundf("require one of the files full.iso, minimal.iso and disconnected.iso, found %q", file)
	}
	ask.imageType = name + "-iso"
	return checkSystem(ask)
}

// longForm reads version and architecture from the query.
func longForm(r *http.Request, ask *imageRequest) error {
	query := r.URL.Query()
	if ask.version = query.Get("version"); ask.version == "" {
		return model.Invalidf("version: require an OpenShift version such as 4.22, found none")
	}
	ask.arch = or(query.Get("arch"), string(wire.InfraEnvCPUArchitectureX8664))
	return checkSystem(ask)
}

func typeOfQuery(r *http.Request, ask *imageRequest) error {
	ask.imageType = r.URL.Query().Get("type")
	if !slices.Contains(imageTypes, ask.imageType) {
		found := ask.imageType
		if found == "" {
			found = "none"
		}
		return model.Invalidf("type: require one of %s, found %s", strings.Join(imageTypes, ", "), found)
	}
	return nil
}

// imageTypes are the ISOs there are.
var imageTypes = []string{string(wire.ImageTypeFullIso), string(wire.ImageTypeMinimalIso), string(wire.ImageTypeDisconnectedIso)}

// maxVersion is more than any version of OpenShift has, in bytes.
const maxVersion = 128

// checkSystem limits what a version may be, and gives an architecture the name that it has
// in settings.
func checkSystem(ask *imageRequest) error {
	if len(ask.version) > maxVersion {
		return model.Invalidf("version: require an OpenShift version of at most %d bytes, found %d", maxVersion, len(ask.version))
	}
	switch ask.arch {
	case "x86_64", "arm64", "ppc64le", "s390x":
	case "aarch64":
		ask.arch = "arm64"
	case "amd64":
		ask.arch = "x86_64"
	default:
		return model.Invalidf("arch: require x86_64, arm64, aarch64, ppc64le or s390x, found %q", ask.arch)
	}
	return nil
}

// hiddenCredentials is the path of a request for the log, as it is understood: cleaned.
func hiddenCredentials(r *http.Request) string {
	parts := strings.SplitN(clean(r.URL.Path), "/", 4)
	if len(parts) > 2 && (parts[1] == "byapikey" || parts[1] == "bytoken") {
		parts[2] = model.Secret(parts[2]).String()
	}
	return strings.Join(parts, "/")
}
