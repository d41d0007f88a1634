package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"net/http"

	"slipway/internal/hostconfig/ignition"
	"slipway/internal/images/release"
	"slipway/internal/model"
	"slipway/internal/platform/blob"
)

// Disconnected has the config made that a disconnected image starts with; it differs each time. release.Releases implements it.
type Disconnected interface {
	Unconfigured(ctx context.Context, c *model.Cluster, e *model.InfraEnv) ([]byte, error)
}

// answerDisconnected answers with the config of a disconnected image. It is made once for
// each state of the settings and kept: the installer takes its time, and puts new keys
// into every one.
func (s *server) answerDisconnected(w http.ResponseWriter, r *http.Request, e *model.InfraEnv) error {
	c, err := s.clusterOfDisconnected(r.Context(), e)
	if err != nil {
		return err
	}
	settings := s.tag("disconnected", s.Version, e.ID, e.Name, e, e.PullSecret.Reveal(), c.Name, c.OpenShiftVersion, c.ReleaseImage)
	config, err := s.keptDisconnected(r.Context(), c, e, settings)
	if errors.Is(err, model.ErrNotFound) {
		config, err = s.makeDisconnected(r.Context(), c, e, settings)
	}
	if err != nil {
		return err
	}
	known := file{"discovery.ign", s.tag(settings, sha256.Sum256(config)), e.UpdatedAt}
	return s.answerUnlessKnown(w, r, known, func() ([]byte, error) { return config, nil })
}

// clusterOfDisconnected returns the cluster that names the release of a disconnected image.
func (s *server) clusterOfDisconnected(ctx context.Context, e *model.InfraEnv) (*model.Cluster, error) {
	if e.ClusterID == nil {
		return nil, model.Conflictf(
			"config of a disconnected image of infra-env %s cannot be made: a cluster is required, because its release makes the config",
			e.Name,
		)
	}
	if s.Disconnected == nil {
		return nil, model.Conflictf(
			"config of a disconnected image of infra-env %s cannot be made: this service runs no installers",
			e.Name,
		)
	}
	return s.Store.Cluster(ctx, *e.ClusterID)
}

// disconnectedKey returns the key of an InfraEnv's config, which is kept with the files of its cluster, and as long as they are.
func disconnectedKey(c *model.Cluster, e *model.InfraEnv) string {
	return blob.ClusterFile(c.ID, "disconnected-"+e.ID.String()+".ign")
}

// keptDisconnected returns the config that was made of these settings; a model.ErrNotFound without one. Its first line is a digest of
// the settings it was made from.
func (s *server) keptDisconnected(ctx context.Context, c *model.Cluster, e *model.InfraEnv, settings string) ([]byte, error) {
	kept, err := s.Blob.Get(ctx, disconnectedKey(c, e))
	if err != nil {
		return nil, err
	}
	made, config, _ := bytes.Cut(kept, []byte("\n"))
	if string(made) != settings {
		return nil, model.NotFoundf("infra-env %s was changed since", e.Name)
	}
	return config, nil
}

// makeDisconnected makes and keeps a config. Concurrent requests for the same one share one run of the installer, which
// continues when they are canceled.
func (s *server) makeDisconnected(ctx context.Context, c *model.Cluster, e *model.InfraEnv, settings string) ([]byte, error) {
	made := s.disconnected.DoChan(settings, func() (any, error) {
		ctx := context.WithoutCancel(ctx) // the installer has limits of its own
		config, err := s.Disconnected.Unconfigured(ctx, c, e)
		if err == nil {
			config, err = ignition.Disconnected(config, e)
		}
		if err != nil {
			return nil, whyDisconnected(e, err)
		}
		_, err = s.Blob.PutSecret(ctx, disconnectedKey(c, e), bytes.Join([][]byte{[]byte(settings), config}, []byte("\n")))
		return config, err
	})
	select {
	case result := <-made:
		config, _ := result.Val.([]byte)
		return config, result.Err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// whyDisconnected returns an error that users can act on: invalid settings, errors of the installer about them, and
// registries that cannot be read.
func whyDisconnected(e *model.InfraEnv, err error) error {
	var installer *release.GenerateError
	said := errors.As(err, &installer) && installer.ExitCode >= 0
	for _, kind := range []error{model.ErrInvalid, model.ErrNotFound, model.ErrUnprocessable, release.ErrRegistry} {
		said = said || errors.Is(err, kind)
	}
	if said {
		return model.Conflictf("config of a disconnected image of infra-env %s cannot be made: %s", e.Name, err)
	}
	return err
}
