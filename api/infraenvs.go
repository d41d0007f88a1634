package api

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/google/uuid"

	"slipway/api/admission"
	"slipway/internal/cluster/definition"
	"slipway/internal/cluster/events"
	"slipway/internal/model"
	"slipway/internal/platform/audit"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// RegisterInfraEnv defines an InfraEnv.
func (s *server) RegisterInfraEnv(w http.ResponseWriter, r *http.Request) error {
	var params wire.InfraEnvCreateParams
	if err := admission.Read(r, &params); err != nil {
		return err
	}
	e, err := s.newInfraEnv(r, params)
	if err != nil {
		return err
	}
	key, err := admission.KubeKey(r)
	if err != nil {
		return err
	}
	e.KubeNamespace, e.KubeName = key.Namespace, key.Name
	err = s.Store.CreateInfraEnv(r.Context(), e, func(tx *store.Tx) {
		record(r, tx, events.InfraEnvRegistered, ofInfraEnv(e), nil)
		refreshClusterOf(e, tx)
	})
	if err != nil {
		return err
	}
	audit.Add(r.Context(), func(row *model.AuditEntry) { row.InfraEnvID, row.ClusterID = &e.ID, e.ClusterID })
	out, err := s.infraEnvToWire(e, readsSecrets(r))
	if err != nil {
		return err
	}
	return created(w, out)
}

func (s *server) newInfraEnv(r *http.Request, p wire.InfraEnvCreateParams) (*model.InfraEnv, error) {
	e := &model.InfraEnv{
		ID: uuid.New(), Name: p.Name, ClusterID: p.ClusterID, UserName: admission.CallerOf(r).Name, OrgID: admission.CallerOf(r).OrgID,
		PullSecret: model.Secret(p.PullSecret), TokenKey: newTokenKey(),
		ImageType: string(wire.ImageTypeFullIso), OpenShiftVersion: deref(p.OpenshiftVersion), CPUArchitecture: "x86_64",
	}
	if e.Name == "" {
		e.Name = "infra-env-" + e.ID.String()[:8]
	}
	if err := definition.CheckPullSecret(p.PullSecret); err != nil {
		return nil, err
	}
	if p.CPUArchitecture != nil {
		e.CPUArchitecture = string(*p.CPUArchitecture)
	}
	var c *model.Cluster
	if p.ClusterID != nil {
		err := s.gate.MayTouch(r.Context(), admission.CallerOf(r), admission.Object{ClusterID: *p.ClusterID})
		if err != nil {
			return nil, err
		}
		if c, err = s.Store.Cluster(r.Context(), *p.ClusterID); err != nil {
			return nil, err
		}
		if err := definition.BindInfraEnv(e, c, p.CPUArchitecture != nil); err != nil {
			return nil, err
		}
	}
	if e.OpenShiftVersion != "" {
		if _, err := s.Releases.Find(e.OpenShiftVersion); err != nil {
			return nil, err
		}
	}
	err := definition.InfraEnvSettings{
		Proxy: p.Proxy, AdditionalNTPSources: p.AdditionalNtpSources, NTPSources: p.NtpSources, SSHAuthorizedKey: p.SSHAuthorizedKey,
		StaticNetwork: p.StaticNetworkConfig, RendezvousIP: p.RendezvousIP, ImageType: p.ImageType,
		IgnitionOverride: p.IgnitionConfigOverride, KernelArguments: p.KernelArguments, TrustBundle: p.AdditionalTrustBundle,
		DiscoveryDelay: p.NetworkDiscoveryDelaySeconds, ParseNetwork: s.networks.check,
	}.Apply(e)
	if err != nil {
		return nil, err
	}
	if c != nil {
		if err := definition.CheckInfraEnv(c, e); err != nil {
			return nil, err
		}
	}
	return e, s.checkImage(e)
}

func newTokenKey() model.Secret {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return model.Secret(base64.StdEncoding.EncodeToString(key))
}

// ListInfraEnvs lists InfraEnvs, newest first.
func (s *server) ListInfraEnvs(w http.ResponseWriter, r *http.Request, params wire.ListInfraEnvsParams) error {
	if same, err := s.unchanged(w, r, store.Reading{InfraEnvs: true}, s.addressSettings()...); same || err != nil {
		return err
	}
	list, err := s.Store.InfraEnvs(r.Context(), store.InfraEnvFilter{
		ClusterID: params.ClusterID, Owner: params.Owner, Tenant: admission.Tenant(r),
	})
	if err != nil {
		return err
	}
	out := make([]wire.InfraEnv, len(list))
	for i, e := range list {
		if out[i], err = s.infraEnvToWire(e, readsSecrets(r)); err != nil {
			return err
		}
	}
	return ok(w, out)
}

// GetInfraEnv reads one InfraEnv.
func (s *server) GetInfraEnv(w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	of := store.Reading{InfraEnvs: true, InfraEnvID: id}
	if same, err := s.unchanged(w, r, of, s.addressSettings()...); same || err != nil {
		return err
	}
	return s.replyInfraEnv(ok, w, r, id)
}

// UpdateInfraEnv changes an InfraEnv; hosts that boot from now on see it.
func (s *server) UpdateInfraEnv(w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	var params wire.InfraEnvUpdateParams
	if err := admission.Read(r, &params); err != nil {
		return err
	}
	cluster, err := s.clusterOfImage(r.Context(), id, params)
	if err != nil {
		return err
	}
	_, err = s.Store.UpdateInfraEnv(r.Context(), id, func(e *model.InfraEnv, tx *store.Tx) error {
		before := settingsOf(e)
		if err := s.changeInfraEnv(e, params); err != nil {
			return err
		}
		if settingsOf(e) == before {
			return errUnchanged
		}
		if cluster != nil {
			if err := definition.CheckInfraEnv(cluster, e); err != nil {
				return err
			}
		}
		record(r, tx, events.ImageInfoUpdated, ofInfraEnv(e), events.Props{"details": "settings were changed"})
		refreshClusterOf(e, tx)
		return nil
	})
	if err != nil && !errors.Is(err, errUnchanged) {
		return err
	}
	return s.replyInfraEnv(created, w, r, id)
}

// settingsOf returns what an update changes, to be compared.
func settingsOf(e *model.InfraEnv) string {
	document, _ := json.Marshal(e) // never fails
	return string(document) + e.PullSecret.Reveal()
}

// errUnchanged ends a transaction that would write what is there.
var errUnchanged = errors.New("nothing changes")

// clusterOfImage returns the cluster whose platform must boot another image, nil where a change needs none.
func (s *server) clusterOfImage(ctx context.Context, id uuid.UUID, p wire.InfraEnvUpdateParams) (*model.Cluster, error) {
	if p.ImageType == nil {
		return nil, nil
	}
	e, err := s.Store.InfraEnv(ctx, id)
	if err != nil || e.ClusterID == nil {
		return nil, err
	}
	c, err := s.Store.Cluster(ctx, *e.ClusterID)
	if errors.Is(err, model.ErrNotFound) {
		return nil, nil
	}
	return c, err
}

func (s *server) changeInfraEnv(e *model.InfraEnv, p wire.InfraEnvUpdateParams) error {
	before := configSettings(e)
	if p.PullSecret != nil {
		if err := definition.CheckPullSecret(*p.PullSecret); err != nil {
			return err
		}
		e.PullSecret = model.Secret(*p.PullSecret)
	}
	if version := deref(p.OpenshiftVersion); version != "" {
		if _, err := s.Releases.Find(version); err != nil {
			return err
		}
		e.OpenShiftVersion = version
	}
	err := definition.InfraEnvSettings{
		Proxy: p.Proxy, AdditionalNTPSources: p.AdditionalNtpSources, NTPSources: p.NtpSources, SSHAuthorizedKey: p.SSHAuthorizedKey,
		StaticNetwork: p.StaticNetworkConfig, RendezvousIP: p.RendezvousIP, ImageType: p.ImageType,
		IgnitionOverride: p.IgnitionConfigOverride, KernelArguments: p.KernelArguments, TrustBundle: p.AdditionalTrustBundle,
		DiscoveryDelay: p.NetworkDiscoveryDelaySeconds, ParseNetwork: s.networks.check,
	}.Apply(e)
	if err != nil || configSettings(e) == before {
		return err
	}
	return s.checkImage(e)
}

// DeregisterInfraEnv deletes an InfraEnv and its hosts without a cluster.
func (s *server) DeregisterInfraEnv(w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	err := s.Store.DeleteInfraEnv(r.Context(), id, func(e *model.InfraEnv, tx *store.Tx) {
		record(r, tx, events.InfraEnvDeregistered, ofInfraEnv(e), nil)
		refreshClusterOf(e, tx)
	})
	if err != nil {
		return err
	}
	return noContent(w)
}

// refreshClusterOf requests a new evaluation of the cluster of an InfraEnv, whose settings count as used features.
func refreshClusterOf(e *model.InfraEnv, tx *store.Tx) {
	if e.ClusterID != nil {
		tx.RefreshCluster(*e.ClusterID)
	}
}

func (s *server) replyInfraEnv(how reply, w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	e, err := s.Store.InfraEnv(r.Context(), id)
	if err != nil {
		return err
	}
	out, err := s.infraEnvToWire(e, readsSecrets(r))
	if err != nil {
		return err
	}
	return how(w, out)
}
