package cli_test

import (
	"bytes"
	"context"
	"flag"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/api"
	"slipway/internal/client"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/cluster/openshift"
	"slipway/internal/model"
	"slipway/internal/platform/blob"
	"slipway/internal/platform/encryption"
	"slipway/internal/platform/store"
	"slipway/internal/service/discovery"
	"slipway/internal/service/evaluation"
	"slipway/internal/service/reports"
	"slipway/internal/testing/pgtest"
	"slipway/internal/wire"
)

var update = flag.Bool("update", false, "write the golden files")

// service is the real API with everything behind it but the workflows.
type service struct {
	url    string
	store  *store.Store
	client *client.Client
	secret string // file with a pull secret
}

func newService(t *testing.T) *service {
	t.Helper()
	database := pgtest.Migrated(t, store.Migrate)
	sealer, err := encryption.New(bytes.Repeat([]byte{7}, encryption.KeySize))
	require.NoError(t, err)
	tables, err := store.Open(t.Context(), store.Options{URL: database, Sealer: sealer, Now: time.Now})
	require.NoError(t, err)
	t.Cleanup(tables.Close)
	blobs, err := blob.Open(t.Context(), "file://"+t.TempDir(), sealer)
	require.NoError(t, err)
	log := slog.New(slog.DiscardHandler)
	rules := evaluation.New(evaluation.Options{
		Store: tables, Log: log, Now: time.Now, Timeouts: lifecycle.DefaultTimeouts(), ReaderPatience: time.Hour,
	})
	agents := discovery.New(discovery.Options{
		Store: tables, Evaluation: rules, Log: log, Now: time.Now, Timeouts: lifecycle.DefaultTimeouts(),
	})
	releases, err := openshift.ParseReleases([]byte(`[
		{"version":"4.20.5","cpu_architectures":["x86_64","arm64"],"support_level":"production","default":true,"url":"quay.io/ocp/release:4.20.5"},
		{"version":"4.9.3","cpu_architectures":["x86_64"],"support_level":"end-of-life","url":"quay.io/ocp/release:4.9.3"}]`))
	require.NoError(t, err)
	server := httptest.NewServer(api.NewServer(api.Options{
		Service: api.Service{
			Store: tables, Blob: blobs, Discovery: agents, Evaluation: rules, Orchestrator: willing{}, Log: log, Now: time.Now,
			ClusterReports: reports.Clusters{Store: tables, Blob: blobs},
		},
		Catalogue:  api.Catalogue{Releases: openshift.NewCatalogue(releases)},
		Deployment: api.Deployment{BaseURL: "http://service.example"},
	}))
	t.Cleanup(server.Close)
	s := &service{url: server.URL, store: tables, client: client.New(client.Options{BaseURL: server.URL})}
	s.secret = file(t, "pull-secret.json", `{"auths":{"cloud.openshift.com":{"auth":"dXNlcjpwYXNzd29yZAo=","email":"r@r.com"}}}`)
	return s
}

// run types a command that must succeed and returns what it prints.
func (s *service) run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := run(t, s.url, args...)
	require.NoError(t, err)
	return out
}

// create defines a cluster with the flags and reads it.
func (s *service) create(t *testing.T, name string, flags ...string) *wire.Cluster {
	t.Helper()
	s.run(t, append([]string{"cluster", "create", name, "--base-domain", "example.com", "--pull-secret", s.secret}, flags...)...)
	return s.cluster(t, name)
}

func (s *service) cluster(t *testing.T, name string) *wire.Cluster {
	t.Helper()
	all, err := s.client.ListClusters(t.Context(), false)
	require.NoError(t, err)
	for _, c := range all {
		if c.Name == name {
			found, err := s.client.Cluster(t.Context(), c.ID)
			require.NoError(t, err)
			return found
		}
	}
	require.Fail(t, "no cluster "+name)
	return nil
}

func (s *service) infraEnv(t *testing.T, name string) wire.InfraEnv {
	t.Helper()
	all, err := s.client.ListInfraEnvs(t.Context(), uuid.Nil)
	require.NoError(t, err)
	for _, e := range all {
		if e.Name == name {
			return e
		}
	}
	require.Fail(t, "no InfraEnv "+name)
	return wire.InfraEnv{}
}

// host registers a host in an InfraEnv and reports its inventory.
func (s *service) host(t *testing.T, infraEnv uuid.UUID, name string) uuid.UUID {
	t.Helper()
	id := uuid.New()
	_, err := s.client.RegisterHost(t.Context(), infraEnv, id)
	require.NoError(t, err)
	disk := func(name string) wire.Disk {
		d := wire.Disk{
			ID:        "wwn-" + name,
			ByID:      "wwn-" + name,
			Name:      name,
			Path:      "/dev/" + name,
			SizeBytes: 256e9,
			DriveType: wire.DriveTypeSSD,
		}
		d.InstallationEligibility.Eligible = true
		return d
	}
	s.changeHost(t, infraEnv, id, func(h *model.Host) {
		h.Inventory = &wire.Inventory{
			Hostname: name, CPU: wire.CPU{Count: 8, Architecture: "x86_64"}, Memory: wire.Memory{PhysicalBytes: 32 << 30},
			Disks: []wire.Disk{disk("sda"), disk("sdb")},
		}
	})
	return id
}

// changeHost puts a host into a state that takes an agent or an installation to reach.
func (s *service) changeHost(t *testing.T, infraEnv, id uuid.UUID, fn func(*model.Host)) {
	t.Helper()
	_, err := s.store.UpdateHost(t.Context(), infraEnv, id, func(h *model.Host, _ *store.Tx) error {
		fn(h)
		return nil
	})
	require.NoError(t, err)
}

// willing is an orchestrator that takes every command and does nothing.
type willing struct{}

func (willing) Install(context.Context, uuid.UUID) error                        { return nil }
func (willing) Cancel(context.Context, uuid.UUID) error                         { return nil }
func (willing) Reset(context.Context, uuid.UUID) error                          { return nil }
func (willing) InstallHost(context.Context, uuid.UUID, uuid.UUID) error         { return nil }
func (willing) ResetHost(context.Context, uuid.UUID, uuid.UUID) error           { return nil }
func (willing) ClusterCommand(context.Context, uuid.UUID, string) error         { return nil }
func (willing) HostCommand(context.Context, uuid.UUID, uuid.UUID, string) error { return nil }
func (willing) ReleaseHost(context.Context, uuid.UUID, uuid.UUID)               {}
func (willing) ReleaseCluster(context.Context, uuid.UUID)                       {}
func (willing) State(context.Context, uuid.UUID) (wire.WorkflowState, error) {
	return wire.WorkflowState{}, nil
}

// file writes a file for a flag.
func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// ids and times differ from run to run.
var passing = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// golden compares what a command prints with testdata.
func golden(t *testing.T, name, out string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	out = passing.ReplaceAllString(out, "ID")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(out), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), out)
}
