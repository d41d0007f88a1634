package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"slipway/api/admission"
	"slipway/internal/cluster/events"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/hostconfig/installconfig"
	"slipway/internal/model"
	"slipway/internal/platform/blob"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// V2DownloadClusterFiles returns a file that the installation generated.
func (s *server) V2DownloadClusterFiles(
	w http.ResponseWriter,
	r *http.Request,
	id uuid.UUID,
	params wire.V2DownloadClusterFilesParams,
) error {
	return s.downloadClusterFile(w, r, id, string(params.FileName), lifecycle.WithFiles, func(c *model.Cluster) error {
		return model.NotFoundf("cluster %s has no file %s", c.Name, params.FileName)
	})
}

// V2DownloadClusterCredentials returns a credential of the new cluster.
func (s *server) V2DownloadClusterCredentials(
	w http.ResponseWriter,
	r *http.Request,
	id uuid.UUID,
	params wire.V2DownloadClusterCredentialsParams,
) error {
	allowed := lifecycle.WithFiles
	if params.FileName == wire.V2DownloadClusterCredentialsParamsFileNameKubeconfig {
		allowed = lifecycle.WithConsole // the file is complete once the ingress certificate came
	}
	return s.downloadClusterFile(w, r, id, string(params.FileName), allowed, func(c *model.Cluster) error {
		return errNoFile(c, string(params.FileName))
	})
}

func (s *server) downloadClusterFile(
	w http.ResponseWriter, r *http.Request, id uuid.UUID, name string, allowed []model.ClusterStatus, missing func(*model.Cluster) error,
) error {
	if err := admission.CheckFile(admission.CallerOf(r), name); err != nil {
		return err
	}
	c, err := s.Store.Cluster(r.Context(), id)
	if err != nil {
		return err
	}
	if !slices.Contains(allowed, c.Status) {
		return errNoFile(c, name)
	}
	if err := s.checkFileInTime(r.Context(), admission.CallerOf(r), c, name); err != nil {
		return err
	}
	return s.downloadBlob(w, r, blob.ClusterFile(id, name), name, missing(c))
}

func errNoFile(c *model.Cluster, name string) error {
	return model.Conflictf("cluster %s has no %s: not available before the installation has generated it (status %s)", c.Name, name, c.Status)
}

// V2GetCredentials returns how to log in to the new cluster.
func (s *server) V2GetCredentials(w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	credentials, err := s.credentials(r.Context(), id)
	w.Header().Set("Cache-Control", "no-store")
	if err != nil {
		return err
	}
	return ok(w, credentials)
}

func (s *server) credentials(ctx context.Context, id uuid.UUID) (wire.Credentials, error) {
	c, err := s.Store.Cluster(ctx, id)
	if err != nil {
		return wire.Credentials{}, err
	}
	if !lifecycle.WithConsole.Has(c.Status) {
		return wire.Credentials{}, errNoFile(c, "credentials")
	}
	password, err := s.blobText(ctx, blob.ClusterFile(id, "kubeadmin-password"), errNoFile(c, "credentials"))
	return wire.Credentials{
		Username: "kubeadmin", Password: password,
		ConsoleURL: fmt.Sprintf("https://console-openshift-console.apps.%s.%s", c.Name, c.BaseDNSDomain),
	}, err
}

// V2GetClusterInstallConfig reads the install-config a cluster would be installed with.
func (s *server) V2GetClusterInstallConfig(w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	config, err := s.installConfig(r.Context(), id)
	w.Header().Set("Cache-Control", "no-store")
	if err != nil {
		return err
	}
	return ok(w, config)
}

func (s *server) installConfig(ctx context.Context, id uuid.UUID) (string, error) {
	s.bringUpToDate(ctx, store.Reading{ClusterID: id})
	c, err := s.Store.Cluster(ctx, id)
	if err != nil {
		return "", err
	}
	hosts, err := s.Store.ClusterHosts(ctx, id)
	if err != nil {
		return "", err
	}
	envs, err := s.Store.InfraEnvs(ctx, store.InfraEnvFilter{ClusterID: id})
	if err != nil {
		return "", err
	}
	config, err := installconfig.Build(c, hosts, s.InstallConfig.With(envs))
	if err != nil {
		return "", err
	}
	text, err := config.JSON()
	return string(text), err
}

// V2UpdateClusterInstallConfig overrides values of the install-config with a JSON object.
func (s *server) V2UpdateClusterInstallConfig(w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	var override string
	if err := admission.Read(r, &override); err != nil {
		return err
	}
	if err := s.overrideInstallConfig(r, id, override); err != nil {
		return err
	}
	return created(w, nil)
}

func (s *server) overrideInstallConfig(r *http.Request, id uuid.UUID, override string) error {
	hosts, err := s.Store.ClusterHosts(r.Context(), id)
	if err != nil {
		return err
	}
	_, err = s.Store.UpdateCluster(r.Context(), id, func(c *model.Cluster, tx *store.Tx) error {
		if err := requireStatus("changed", c, lifecycle.Changeable); err != nil {
			return err
		}
		if c.DayTwo() && !c.Imported {
			return model.Conflictf("install_config_overrides of cluster %s cannot be changed: require a cluster that is not installed yet, "+
				"found status %s", c.Name, c.Status)
		}
		if err := installconfig.CheckOverrideOf(c, hosts, override, s.InstallConfig); err != nil {
			return err
		}
		before := c.Effective()
		c.InstallConfigOverride = override
		if after := c.Effective(); !slices.Equal(before.MachineNetworks, after.MachineNetworks) ||
			!slices.Equal(before.ClusterNetworks, after.ClusterNetworks) || !slices.Equal(before.ServiceNetworks, after.ServiceNetworks) {
			c.NetworkGeneration++ // hosts are asked about networks
		}
		record(r, tx, events.InstallConfigApplied, lifecycle.AboutCluster(c), nil)
		tx.RefreshCluster(c.ID)
		return nil
	})
	return err
}
