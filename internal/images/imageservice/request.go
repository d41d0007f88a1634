package imageservice

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"slipway/internal/model"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/httpapi"
	"slipway/internal/wire"
)

// credential opens the files of an InfraEnv, in the place where the API expects it.
type credential struct {
	scheme auth.Scheme // empty: none
	value  string
}

// set puts the credential into a request to the API.
func (c credential) set(r *http.Request) {
	if c.scheme != "" {
		c.scheme.Place().Set(r, c.value)
	}
}

// readID reads the InfraEnv from the path.
func readID(r *http.Request, req *request) error {
	text := chi.URLParam(r, "infra_env_id")
	id, err := uuid.Parse(text)
	if err != nil || len(text) != len(uuid.Nil.String()) {
		return model.Invalidf("infra_env_id: require a UUID, found %q", text)
	}
	req.infraEnvID = id
	return nil
}

func readAPIKey(r *http.Request, req *request) error {
	return readTokenOf(chi.URLParam(r, "api_key"), auth.SchemeURL, req)
}

func readToken(r *http.Request, req *request) error {
	return readTokenOf(chi.URLParam(r, "token"), auth.SchemeImage, req)
}

// readTokenOf reads the id of the InfraEnv from a token. It does not verify the
// token: the API does (docs/reference/images.md, "InfraEnv of a token").
func readTokenOf(token string, scheme auth.Scheme, req *request) error {
	var claims struct {
		Subject    string `json:"sub"`
		InfraEnvID string `json:"infra_env_id"`
	}
	parts := strings.SplitN(token, ".", 4) // a megabyte of dots is no token
	if len(parts) == 3 {
		if payload, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "=")); err == nil {
			_ = json.Unmarshal(payload, &claims) // an unreadable token names no InfraEnv
		}
	}
	id, err := uuid.Parse(cmp.Or(claims.InfraEnvID, claims.Subject))
	if err != nil {
		return httpapi.Errorf(httpapi.ErrUnauthenticated, "the token in the address names no infra-env")
	}
	req.infraEnvID, req.credential = id, credential{scheme, token}
	return nil
}

// readCredential reads the credential from the query or a header. The order of precedence is: the API key of the path,
// api_key, the token of the path, image_token, the header of users (docs/reference/images.md, "Order of credentials").
func readCredential(r *http.Request, req *request) error {
	if req.credential.scheme == auth.SchemeURL {
		return nil
	}
	if key := auth.SchemeURL.Place().Of(r); key != "" {
		req.credential = credential{auth.SchemeURL, key}
		return nil
	}
	if req.credential.scheme != "" {
		return nil
	}
	if token := auth.SchemeImageURL.Place().Of(r); token != "" {
		req.credential = credential{auth.SchemeImage, token}
	} else if user := auth.SchemeUser.Place().Of(r); user != "" {
		req.credential = credential{auth.SchemeUser, user}
	}
	return nil
}

// shortForm reads version, architecture and file name from the path, the form that the API returns.
func shortForm(r *http.Request, req *request) error {
	req.version, req.arch = chi.URLParam(r, "version"), chi.URLParam(r, "arch")
	file := chi.URLParam(r, "file")
	name, isISO := strings.CutSuffix(file, ".iso")
	if !isISO || !slices.Contains(imageTypes, name+"-iso") {
		return model.NotFoundf("require one of the files full.iso, minimal.iso and disconnected.iso, found %q", file)
	}
	req.imageType = name + "-iso"
	return checkSystem(req)
}

// longForm reads version and architecture from the query.
func longForm(r *http.Request, req *request) error {
	query := r.URL.Query()
	if req.version = query.Get("version"); req.version == "" {
		return model.Invalidf("version is required, such as 4.22")
	}
	req.arch = cmp.Or(query.Get("arch"), string(wire.InfraEnvCPUArchitectureX8664))
	return checkSystem(req)
}

func typeOfQuery(r *http.Request, req *request) error {
	req.imageType = r.URL.Query().Get("type")
	if !slices.Contains(imageTypes, req.imageType) {
		found := req.imageType
		if found == "" {
			found = "an empty value"
		}
		return model.Invalidf("type: require one of %s, found %s", strings.Join(imageTypes, ", "), found)
	}
	return nil
}

// imageTypes are the types of ISOs.
var imageTypes = []string{string(wire.ImageTypeFullIso), string(wire.ImageTypeMinimalIso), string(wire.ImageTypeDisconnectedIso)}

// maxVersion is more than any version of OpenShift has, in bytes.
const maxVersion = 128

// checkSystem limits the length of the version and replaces other names of an architecture.
func checkSystem(req *request) error {
	if len(req.version) > maxVersion {
		return model.Invalidf("version: require an OpenShift version of at most %d bytes, found %d", maxVersion, len(req.version))
	}
	switch req.arch {
	case "x86_64", "arm64", "ppc64le", "s390x":
	case "aarch64":
		req.arch = "arm64"
	case "amd64":
		req.arch = "x86_64"
	default:
		return model.Invalidf("arch: require x86_64, arm64, aarch64, ppc64le or s390x, found %q", req.arch)
	}
	return nil
}
