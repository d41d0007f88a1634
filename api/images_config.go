package api

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/singleflight"

	"slipway/internal/images/remaster"
	"slipway/internal/model"
)

const (
	// configPatience bounds one question to the API.
	configPatience = 30 * time.Second
	// configLimit bounds an answer of it: what fits into an image is far smaller.
	configLimit = 16 << 20
	// configTries is how often a config is read again that changed while it was read.
	configTries = 3
	// Limits of what is kept: configs as they came, and as they are packed in images.
	configEntries, configBytes = 64, 32 << 20
)

// imageConfig is what the API says goes into an image of an environment.
type imageConfig struct {
	tag      string // of the API; empty: it has none, and nothing can be kept
	modified time.Time
	parts    remaster.Parts
}

// size is about what it takes in memory, with the image that is made of it.
func (c *imageConfig) size() int { return 2 * (len(c.parts.Ignition) + len(c.parts.Ramdisk)) }

// configKey tells images apart, whoever asks for them.
type configKey struct {
	infraEnvID              uuid.UUID
	artifact, version, arch string
}

// imageConfigs are those of the images that were asked for last.
type imageConfigs struct {
	api     http.RoundTripper
	apiURL  string
	known   *recent[configKey, *imageEntry]
	flights singleflight.Group
}

func newImageConfigs(o ImagesOptions) *imageConfigs {
	return &imageConfigs{
		api: o.API, apiURL: or(strings.TrimSuffix(o.APIURL, "/"), "http://api.invalid"),
		known: newRecent[configKey, *imageEntry](configEntries, configBytes),
	}
}

// get gives what is known of an image. The API is asked every time, with the caller's
// credential: whether it may be had, and whether it is still what it was. Only when it is
// not is more asked for, once for all who wait for the same.
func (c *imageConfigs) get(r *http.Request, ask *imageRequest, artifact string) (*imageEntry, error) {
	// Copies: each is a part of an address, which would be kept as a whole, a megabyte if
	// the client likes.
	key := configKey{ask.infraEnvID, strings.Clone(artifact), strings.Clone(ask.version), strings.Clone(ask.arch)}
	q := question{imageConfigs: c, ask: ask, artifact: artifact}
	entry, found := c.known.get(key)
	var first *apiAnswer
	flight := fmt.Sprintf("%v %x", key, sha256.Sum256([]byte(string(ask.credential.scheme)+" "+ask.credential.value)))
	if found && entry.config.tag != "" {
		var err error
		first, err = q.ignition(r.Context(), entry.config.tag)
		if err != nil || first.status == http.StatusNotModified {
			return entry, err
		}
		flight += first.tag
	}
	// The answer is for all who wait: it does not end with the one who came first.
	ctx := context.WithoutCancel(r.Context())
	return together(r.Context(), &c.flights, flight, func() (*imageEntry, error) {
		config, err := q.config(ctx, first)
		if err != nil {
			return nil, err
		}
		entry := &imageEntry{config: config}
		c.known.put(key, entry, config.size())
		return entry, nil
	})
}

// question is what one caller asks the API for.
type question struct {
	*imageConfigs
	ask      *imageRequest
	artifact string
}

// config reads all parts; first is the config when it was read already.
func (q question) config(ctx context.Context, first *apiAnswer) (*imageConfig, error) {
	var err error
	for try := 1; ; try++ {
		if first == nil {
			if first, err = q.ignition(ctx, ""); err != nil {
				return nil, err
			}
		}
		out := &imageConfig{tag: first.tag, modified: first.modified}
		out.parts.Ignition = first.body
		if err := q.others(ctx, &out.parts); err != nil || out.tag == "" || try == configTries {
			return out, err
		}
		// All parts must be of one state of the environment.
		again, err := q.ignition(ctx, out.tag)
		if err != nil || again.status == http.StatusNotModified {
			return out, err
		}
		first = again
	}
}

// others reads what the artifact has besides the config: network settings for images that
// fetch their root file system, kernel arguments for those that bring a boot loader.
func (q question) others(ctx context.Context, parts *remaster.Parts) error {
	if q.artifact == artifactInitrd || q.artifact == artifactMinimal {
		answer, err := q.get(ctx, "/downloads/minimal-initrd", nil, "")
		if err != nil {
			return err
		}
		if answer.status == http.StatusOK {
			parts.Ramdisk = answer.body
		}
	}
	if q.artifact == artifactInitrd {
		return nil
	}
	answer, err := q.get(ctx, "", nil, "")
	if err != nil {
		return err
	}
	var env struct {
		KernelArguments string `json:"kernel_arguments"`
	}
	if err := json.Unmarshal(answer.body, &env); err != nil {
		return fmt.Errorf("read infra-env of the API: %w", err)
	}
	if env.KernelArguments == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(env.KernelArguments), &parts.KernelArguments); err != nil {
		return fmt.Errorf("read kernel arguments of the API: %w", err)
	}
	return nil
}

// ignition reads the discovery config unless it is the one of a tag.
func (q question) ignition(ctx context.Context, tag string) (*apiAnswer, error) {
	query := url.Values{"file_name": {"discovery.ign"}}
	if q.artifact != artifactInitrd {
		query.Set("discovery_iso_type", q.artifact)
	}
	return q.get(ctx, "/downloads/files", query, tag)
}

// apiAnswer is an answer of the API, read whole.
type apiAnswer struct {
	status   int
	tag      string
	modified time.Time
	body     []byte
}

// get asks for something of the environment, unless it is known by a tag. What the API
// refuses is an apiRefusal; when it cannot answer, the error is a model.ErrUnavailable.
func (q question) get(ctx context.Context, path string, query url.Values, tag string) (*apiAnswer, error) {
	ctx, cancel := context.WithTimeout(ctx, configPatience)
	defer cancel()
	address := q.apiURL + BasePath + "/v2/infra-envs/" + q.ask.infraEnvID.String() + path
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"?"+query.Encode(), http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("ask the API: %w", err)
	}
	q.ask.credential.set(request)
	request.Header.Set(headerRequestID, q.ask.id)
	if tag != "" {
		request.Header.Set("If-None-Match", tag)
	}
	response, err := q.api.RoundTrip(request)
	if err != nil {
		return nil, fmt.Errorf("ask the API: %w: %w", err, model.ErrUnavailable)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, configLimit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the answer of the API: %w: %w", err, model.ErrUnavailable)
	case len(body) > configLimit:
		return nil, fmt.Errorf("read the answer of the API: require at most %d bytes, found more", configLimit)
	}
	return readAnswer(response, body)
}

func readAnswer(response *http.Response, body []byte) (*apiAnswer, error) {
	out := &apiAnswer{status: response.StatusCode, tag: response.Header.Get("ETag"), body: body}
	out.modified, _ = http.ParseTime(response.Header.Get("Last-Modified")) // none: not known
	switch status := response.StatusCode; {
	case status == http.StatusOK, status == http.StatusNoContent, status == http.StatusNotModified:
		return out, nil
	case status >= http.StatusBadRequest && !broken(status), status == http.StatusServiceUnavailable:
		return nil, &apiRefusal{
			status: status, kind: response.Header.Get("Content-Type"), pause: response.Header.Get("Retry-After"), text: string(body),
		}
	default:
		return nil, fmt.Errorf("ask the API: found status %d: %.300s: %w", status, body, model.ErrUnavailable)
	}
}
