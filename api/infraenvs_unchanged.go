package api

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"slipway/internal/hostconfig/ignition"
	"slipway/internal/hostconfig/staticnet"
	"slipway/internal/model"
)

// file describes a file before it is made.
type file struct {
	name string
	// tag is a strong ETag, a digest of all that the file is made of: the same tag is the
	// same bytes, from any process of the service with the same keys. Empty: none.
	tag     string
	changed time.Time
}

// answerUnlessKnown makes a file only for clients that do not have it yet. Image servers
// ask for every request of theirs.
func (s *server) answerUnlessKnown(w http.ResponseWriter, r *http.Request, f file, content func() ([]byte, error)) error {
	f.changed = s.dated(f.changed)
	if f.known(r) {
		f.headers(w)
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	made, err := content()
	if err != nil {
		return err
	}
	return answerFile(w, f, made)
}

func answerFile(w http.ResponseWriter, f file, content []byte) error {
	f.headers(w)
	return okText(w, "application/octet-stream", content)
}

func (f file) headers(w http.ResponseWriter) {
	fileHeaders(w, f.name, f.changed)
	if f.tag != "" {
		w.Header().Set("Etag", f.tag)
	}
}

// known reports whether a client has the file: by its tag, or without one by its date (RFC 9110, section 13.2.2). A date later than
// ours belongs to another state: clocks are set back, and databases restored.
func (f file) known(r *http.Request) bool {
	if len(r.Header.Values("If-None-Match")) > 0 {
		return hasTag(r, f.tag) || hasTag(r, "*")
	}
	since, err := http.ParseTime(r.Header.Get("If-Modified-Since"))
	return err == nil && f.changed.Equal(since)
}

// dated returns when a file was changed, as dates of HTTP show it: by the second. A change at a time unknown to this process counts as
// made at its start. Another change may come in the same second, so until it is over the file gets the date before.
func (s *server) dated(changed time.Time) time.Time {
	if s.started.After(changed) {
		changed = s.started
	}
	changed = changed.Truncate(time.Second)
	if !s.Now().Truncate(time.Second).After(changed) {
		changed = changed.Add(-time.Second)
	}
	return changed
}

// tag makes a digest of values that JSON can encode. It is keyed: the values hold secrets, and more readers see the tag than the
// values.
func (s *server) tag(values ...any) string {
	mac := hmac.New(sha256.New, s.SigningKey)
	if err := json.NewEncoder(mac).Encode(values); err != nil {
		panic(fmt.Errorf("encode %T: %w", values, err)) // settings hold nothing that cannot be encoded
	}
	return `"` + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:20]) + `"`
}

// discoveryFile describes the discovery config of a type of image. Its tag covers the kernel arguments and network settings that images
// have beside it, too: a reader of the config knows all of them.
func (s *server) discoveryFile(e *model.InfraEnv, imageType string, agent ignition.Agent) (file, error) {
	token, err := s.Identity.AgentToken(e)
	if err != nil {
		return file{}, err
	}
	tag := s.tag("discovery.ign", s.Version, imageType, s.images.Version(e), e.ID, e, e.PullSecret.Reveal(), token.Secret.Reveal(),
		agent, s.BaseURL, s.ServiceCA, s.Insecure, s.Ignition)
	changed := s.agents.changed(agent.SHA256)
	for _, at := range []time.Time{e.UpdatedAt, token.Since} {
		if at.After(changed) {
			changed = at
		}
	}
	return file{"discovery.ign", tag, changed}, nil
}

// initrdInput holds all settings that an initrd is made of, and its tag.
type initrdInput struct {
	Network string
	Proxy   model.Proxy
	Method  staticnet.Method
	Delay   time.Duration
}

func (s *server) initrdInput(e *model.InfraEnv) initrdInput {
	return initrdInput{Network: e.StaticNetworkConfig, Proxy: e.Proxy, Method: s.networkMethod(e), Delay: e.DiscoveryDelay}
}

// initrdFile describes the file that a minimal image needs first.
func (s *server) initrdFile(e *model.InfraEnv) file {
	return file{"initrd.img", s.tag("initrd.img", s.Version, s.initrdInput(e)), e.UpdatedAt}
}

// networkFile describes the archive of the network settings, which has the time of the InfraEnv.
func (s *server) networkFile(e *model.InfraEnv) file {
	tag := s.tag("static-network-config", s.Version, e.StaticNetworkConfig, s.networkMethod(e), e.UpdatedAt.Unix())
	return file{"static-network-config", tag, e.UpdatedAt}
}
