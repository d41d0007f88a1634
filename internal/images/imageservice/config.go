package imageservice

import (
	"cmp"
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
	"slipway/internal/platform/httpapi"
	"slipway/internal/platform/lru"
)

// apiPath is where the API serves InfraEnvs.
const apiPath = "/api/assisted-install/v2/infra-envs/"

const (
	// configPatience bounds one request to the API.
	configPatience = 30 * time.Second
	// configLimit bounds the size of its answer in bytes: the space in an image is far smaller.
	configLimit = 16 << 20
	// configTries is how often a configuration is read again that changed while it was read.
	configTries = 3
	// Limits of the cache: configurations as received, and as they are packed in images.
	configEntries, configBytes = 64, 32 << 20
)

// imageConfig is the API's answer for the image of an InfraEnv.
type imageConfig struct {
	tag      string // ETag of the API; empty: the configuration cannot be cached
	modified time.Time
	parts    remaster.Parts
}

// size returns about how many bytes it takes in memory, with the image made from it.
func (c *imageConfig) size() int { return 2 * (len(c.parts.Ignition) + len(c.parts.Ramdisk)) }

// configKey identifies an image, independent of the credential.
type configKey struct {
	infraEnvID              uuid.UUID
	artifact, version, arch string
}

// configCache keeps the configurations of the images requested last.
type configCache struct {
	api     http.RoundTripper
	apiURL  string
	known   *lru.Cache[configKey, *cachedImage]
	flights singleflight.Group
}

func newConfigCache(o Options) *configCache {
	return &configCache{
		api: o.API, apiURL: cmp.Or(strings.TrimSuffix(o.APIURL, "/"), "http://api.invalid"),
		known: lru.New[configKey, *cachedImage](configEntries, configBytes),
	}
}

// get returns the configuration of an image. It makes a conditional request to the API each time, with the credential
// of the caller; only a changed configuration is read whole, once for all requests that wait for it.
func (c *configCache) get(r *http.Request, req *request, artifact string) (*cachedImage, error) {
	// Copies: a part of an address keeps the whole address in memory, up to a megabyte.
	key := configKey{req.infraEnvID, strings.Clone(artifact), strings.Clone(req.version), strings.Clone(req.arch)}
	q := configQuery{configCache: c, req: req, artifact: artifact}
	entry, found := c.known.Get(key)
	var first *apiReply
	flight := fmt.Sprintf("%v %x", key, sha256.Sum256([]byte(string(req.credential.scheme)+" "+req.credential.value)))
	if found && entry.config.tag != "" {
		var err error
		first, err = q.ignition(r.Context(), entry.config.tag)
		if err != nil || first.status == http.StatusNotModified {
			return entry, err
		}
		flight += first.tag
	}
	// The answer is for all who wait, so the first request must not cancel it.
	ctx := context.WithoutCancel(r.Context())
	return shared(r.Context(), &c.flights, flight, func() (*cachedImage, error) {
		config, err := q.config(ctx, first)
		if err != nil {
			return nil, err
		}
		entry := &cachedImage{config: config}
		c.known.Put(key, entry, config.size())
		return entry, nil
	})
}

// configQuery reads a configuration with the credential of one request.
type configQuery struct {
	*configCache
	req      *request
	artifact string
}

// config reads all parts; first is the Ignition config if it was read already.
func (q configQuery) config(ctx context.Context, first *apiReply) (*imageConfig, error) {
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
		// All parts must be of one state of the InfraEnv.
		again, err := q.ignition(ctx, out.tag)
		if err != nil || again.status == http.StatusNotModified {
			return out, err
		}
		first = again
	}
}

// others reads what the artifact contains besides the Ignition config: network settings for images that fetch their
// root file system, kernel arguments for images with a boot loader.
func (q configQuery) others(ctx context.Context, parts *remaster.Parts) error {
	if q.artifact == artifactInitrd || q.artifact == artifactMinimal {
		reply, err := q.get(ctx, "/downloads/minimal-initrd", nil, "")
		if err != nil {
			return err
		}
		if reply.status == http.StatusOK {
			parts.Ramdisk = reply.body
		}
	}
	if q.artifact == artifactInitrd {
		return nil
	}
	reply, err := q.get(ctx, "", nil, "")
	if err != nil {
		return err
	}
	var env struct {
		KernelArguments string `json:"kernel_arguments"`
	}
	if err := json.Unmarshal(reply.body, &env); err != nil {
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

// ignition reads the discovery Ignition config unless it still has the given ETag.
func (q configQuery) ignition(ctx context.Context, tag string) (*apiReply, error) {
	query := url.Values{"file_name": {"discovery.ign"}}
	if q.artifact != artifactInitrd {
		query.Set("discovery_iso_type", q.artifact)
	}
	return q.get(ctx, "/downloads/files", query, tag)
}

// apiReply is an answer of the API, read whole.
type apiReply struct {
	status   int
	tag      string
	modified time.Time
	body     []byte
}

// get requests a file of the InfraEnv unless it still has the given ETag. A refusal of the API is a *refusal; without
// an answer the error is a model.ErrUnavailable.
func (q configQuery) get(ctx context.Context, path string, query url.Values, tag string) (*apiReply, error) {
	ctx, cancel := context.WithTimeout(ctx, configPatience)
	defer cancel()
	address := q.apiURL + apiPath + q.req.infraEnvID.String() + path
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"?"+query.Encode(), http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("call the API: %w", err)
	}
	q.req.credential.set(request)
	request.Header.Set(httpapi.HeaderRequestID, q.req.ID)
	if tag != "" {
		request.Header.Set("If-None-Match", tag)
	}
	response, err := q.api.RoundTrip(request)
	if err != nil {
		return nil, fmt.Errorf("call the API: %w: %w", err, model.ErrUnavailable)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, configLimit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the answer of the API: %w: %w", err, model.ErrUnavailable)
	case len(body) > configLimit:
		return nil, fmt.Errorf("read the answer of the API: longer than %d bytes", configLimit)
	}
	return readAnswer(response, body)
}

func readAnswer(response *http.Response, body []byte) (*apiReply, error) {
	out := &apiReply{status: response.StatusCode, tag: response.Header.Get("ETag"), body: body}
	out.modified, _ = http.ParseTime(response.Header.Get("Last-Modified")) // zero: unknown
	switch status := response.StatusCode; {
	case status == http.StatusOK, status == http.StatusNoContent, status == http.StatusNotModified:
		return out, nil
	case status >= http.StatusBadRequest && !httpapi.ServerFault(status), status == http.StatusServiceUnavailable:
		return nil, &refusal{
			status: status, kind: response.Header.Get("Content-Type"), pause: response.Header.Get("Retry-After"), text: string(body),
		}
	default:
		return nil, fmt.Errorf("call the API: status %d: %.300s: %w", status, body, model.ErrUnavailable)
	}
}
