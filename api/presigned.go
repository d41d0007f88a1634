package api

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"slipway/api/admission"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/blob"
	"slipway/internal/wire"
)

// Signed addresses open one file for anyone who has them. The service signs them itself, not its store of files: the store may be a
// folder, and its files may be sealed.

// signedFor is how long the signed address of a cluster's file is good: time enough to follow a link. Addresses of an InfraEnv are for
// firmware, which requests the file whenever the machine is switched on.
const (
	signedFor     = 10 * time.Minute
	signedForBoot = auth.DefaultImageExpiration
)

func (s *server) addresses() auth.Addresses { return auth.Addresses{Key: s.SigningKey, Now: s.Now} }

// addressesOf returns the signer for addresses of an InfraEnv: they end with its signing key.
func (s *server) addressesOf(ctx context.Context, infraEnvID uuid.UUID) (auth.Addresses, error) {
	key, err := s.Store.TokenKey(ctx, infraEnvID)
	if err != nil {
		return auth.Addresses{}, err
	}
	sum := hmac.New(sha256.New, s.SigningKey)
	sum.Write([]byte(key.Reveal()))
	return auth.Addresses{Key: sum.Sum(nil), Now: s.Now}, nil
}

// signedAddress returns the signed part of an address: the path and all parameters, sorted. A MAC address may be added, because only
// the machine that boots knows it.
func signedAddress(path string, query url.Values) string {
	rest := url.Values{}
	for name, values := range query {
		if name != admission.SignatureParam && name != "mac" {
			rest[name] = values
		}
	}
	return path + "?" + rest.Encode()
}

// checkSignature holds a request against the signature in its address, and returns when that ends.
func (s *server) checkSignature(r *http.Request) (time.Time, error) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return time.Time{}, errors.New("require a download")
	}
	query, signer := r.URL.Query(), s.addresses()
	if id, err := uuid.Parse(chi.URLParam(r, "infra_env_id")); err == nil {
		if signer, err = s.addressesOf(r.Context(), id); err != nil {
			return time.Time{}, err
		}
	}
	expires, token, err := signer.Verify(signedAddress(r.URL.Path, query), query.Get(admission.SignatureParam))
	if err != nil || token == uuid.Nil {
		return expires, err
	}
	_, err = s.Store.UseToken(r.Context(), token)
	if errors.Is(err, model.ErrNotFound) {
		return time.Time{}, errors.New("the token that the address was made with was revoked, or has expired")
	}
	return expires, err
}

// goodUntil returns when an address that a caller asks for ends: with the caller's token at the latest.
func (s *server) goodUntil(ctx context.Context, caller admission.Caller, good time.Duration) (time.Time, error) {
	expires := s.Now().Add(good)
	if caller.TokenID != uuid.Nil {
		token, err := s.Store.UseToken(ctx, caller.TokenID)
		if err != nil {
			return time.Time{}, err
		}
		if token.ExpiresAt.Before(expires) {
			expires = token.ExpiresAt
		}
	}
	return expires.UTC().Truncate(time.Second), nil
}

// signed makes an address below wire.BasePath that opens itself for a while, as long as the token of the request is valid.
func (s *server) signed(
	r *http.Request, by auth.Addresses, good time.Duration, path string, query url.Values,
) (wire.PresignedURL, error) {
	for name := range query {
		if query.Get(name) == "" {
			query.Del(name)
		}
	}
	caller := admission.CallerOf(r)
	expires, err := s.goodUntil(r.Context(), caller, good)
	if err != nil {
		return wire.PresignedURL{}, err
	}
	signature, err := by.Sign(signedAddress(wire.BasePath+path, query), caller.TokenID, expires)
	if err != nil {
		return wire.PresignedURL{}, err
	}
	query.Set(admission.SignatureParam, signature)
	return wire.PresignedURL{URL: s.BaseURL + wire.BasePath + path + "?" + query.Encode(), ExpiresAt: wire.DateTime(expires)}, nil
}

// GetInfraEnvPresignedFileURL returns an address that opens a file of an InfraEnv.
func (s *server) GetInfraEnvPresignedFileURL(
	w http.ResponseWriter,
	r *http.Request,
	id uuid.UUID,
	params wire.GetInfraEnvPresignedFileURLParams,
) error {
	signer, err := s.addressesOf(r.Context(), id)
	if err != nil {
		return err
	}
	address, err := s.signed(r, signer, signedForBoot, "/v2/infra-envs/"+id.String()+"/downloads/files", url.Values{
		"file_name": {string(params.FileName)}, "ipxe_script_type": {string(params.IpxeScriptType)},
	})
	if err != nil {
		return err
	}
	if rest, own := strings.CutPrefix(address.URL, s.BaseURL); own && s.BootURL != "" &&
		params.FileName == wire.GetInfraEnvPresignedFileURLParamsFileNameIpxeScript {
		address.URL = s.BootURL + rest
	}
	return ok(w, address)
}

// V2GetPresignedForClusterCredentials makes an address that opens a credential of a cluster.
func (s *server) V2GetPresignedForClusterCredentials(
	w http.ResponseWriter,
	r *http.Request,
	id uuid.UUID,
	params wire.V2GetPresignedForClusterCredentialsParams,
) error {
	allowed := lifecycle.WithFiles
	if params.FileName == wire.V2GetPresignedForClusterCredentialsParamsFileNameKubeconfig {
		allowed = lifecycle.WithConsole
	}
	if err := s.haveClusterFile(r.Context(), id, string(params.FileName), allowed); err != nil {
		return err
	}
	address, err := s.signed(
		r,
		s.addresses(),
		signedFor,
		"/v2/clusters/"+id.String()+"/downloads/credentials",
		url.Values{"file_name": {string(params.FileName)}},
	)
	if err != nil {
		return err
	}
	return ok(w, address)
}

// V2GetPresignedForClusterFiles makes an address that opens a file of a cluster, its
// logs or one of its manifests.
func (s *server) V2GetPresignedForClusterFiles(
	w http.ResponseWriter,
	r *http.Request,
	id uuid.UUID,
	params wire.V2GetPresignedForClusterFilesParams,
) error {
	path, query, err := s.clusterFileAddress(r.Context(), id, params)
	if err != nil {
		return err
	}
	address, err := s.signed(r, s.addresses(), signedFor, "/v2/clusters/"+id.String()+path, query)
	if err != nil {
		return err
	}
	return ok(w, address)
}

func (s *server) clusterFileAddress(
	ctx context.Context,
	id uuid.UUID,
	p wire.V2GetPresignedForClusterFilesParams,
) (string, url.Values, error) {
	switch p.FileName {
	case wire.V2GetPresignedForClusterFilesParamsFileNameLogs:
		query := url.Values{"logs_type": {string(p.LogsType)}}
		if p.HostID != uuid.Nil {
			query.Set("host_id", p.HostID.String())
		}
		return "/logs", query, s.haveLogs(ctx, id, p)
	case wire.V2GetPresignedForClusterFilesParamsFileNameManifests:
		folder, name, found := strings.Cut(p.AdditionalName, "/")
		if !found || name == "" {
			return "", nil, model.Invalidf(
				"additional_name: require the folder and name of a manifest such as openshift/a.yaml, found %q",
				p.AdditionalName,
			)
		}
		_, err := s.findManifest(ctx, id, folder, name)
		return "/manifests/files", url.Values{"folder": {folder}, "file_name": {name}}, err
	}
	name := string(p.FileName)
	return "/downloads/files", url.Values{"file_name": {name}}, s.haveClusterFile(ctx, id, name, lifecycle.WithFiles)
}

// haveClusterFile refuses to sign the address of a missing file.
func (s *server) haveClusterFile(ctx context.Context, id uuid.UUID, name string, allowed []model.ClusterStatus) error {
	c, err := s.Store.Cluster(ctx, id)
	if err != nil {
		return err
	}
	if !slices.Contains(allowed, c.Status) {
		return errNoFile(c, name)
	}
	return s.haveBlob(ctx, blob.ClusterFile(id, name), errNoFile(c, name))
}

func (s *server) haveLogs(ctx context.Context, id uuid.UUID, p wire.V2GetPresignedForClusterFilesParams) error {
	c, err := s.Store.Cluster(ctx, id)
	if err != nil {
		return err
	}
	switch {
	case p.LogsType == wire.V2GetPresignedForClusterFilesParamsLogsTypeController:
		return s.haveBlob(ctx, logsKey(id, controllerLogs), errNoLogs(c))
	case p.HostID != uuid.Nil:
		return s.haveBlob(ctx, logsKey(id, p.HostID.String()), errNoLogs(c))
	case p.LogsType == wire.V2GetPresignedForClusterFilesParamsLogsTypeHost:
		return model.Invalidf("host_id is required for the logs of a host")
	}
	files, err := s.logFiles(ctx, c)
	if err == nil && len(files) == 0 {
		err = errNoLogs(c)
	}
	return err
}

func (s *server) haveBlob(ctx context.Context, key string, missing error) error {
	object, err := s.Blob.Reader(ctx, key)
	if errors.Is(err, model.ErrNotFound) {
		return missing
	}
	if err != nil {
		return err
	}
	object.Close()
	return nil
}
