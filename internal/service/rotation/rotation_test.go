package rotation_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/blob"
	"slipway/internal/platform/encryption"
	"slipway/internal/platform/store"
	"slipway/internal/service/rotation"
	"slipway/internal/testing/pgtest"
)

// service holds the parts of one process.
type service struct {
	keys     *encryption.Keys
	tables   *store.Store
	files    *blob.Store
	temporal *histories
	*rotation.Rotation
}

// site holds the parts that processes share.
type site struct {
	url, dir, keyFile string
	later             atomic.Int64 // seconds by which the clock is ahead
}

func (s *site) now() time.Time { return time.Now().Add(time.Duration(s.later.Load()) * time.Second) }

func newSite(t *testing.T) *site {
	t.Helper()
	dir := t.TempDir()
	return &site{url: pgtest.Migrated(t, store.Migrate), dir: dir, keyFile: filepath.Join(dir, "keys")}
}

func (s *site) start(t *testing.T) *service {
	t.Helper()
	keys, err := encryption.File{Path: s.keyFile}.LoadOrCreate()
	require.NoError(t, err)
	tables, err := store.Open(t.Context(), store.Options{URL: s.url, Sealer: keys, Now: s.now})
	require.NoError(t, err)
	t.Cleanup(tables.Close)
	files, err := blob.Open(t.Context(), "file://"+filepath.Join(s.dir, "blobs")+"?create_dir=1", keys)
	require.NoError(t, err)
	files.LockWith(tables.LockObject)
	temporal := &histories{}
	return &service{keys, tables, files, temporal, &rotation.Rotation{
		Keys: keys, Tables: tables, Files: files, Temporal: temporal, Log: slog.New(slog.DiscardHandler),
	}}
}

// rotate adds a key and makes the service read it.
func (s *site) rotate(t *testing.T, services ...*service) string {
	t.Helper()
	added, err := encryption.File{Path: s.keyFile}.AddKey()
	require.NoError(t, err)
	s.later.Add(1)
	for _, service := range services {
		_, err := service.keys.Reload()
		require.NoError(t, err)
	}
	return added.ID()
}

func (s *site) uses(t *testing.T, service *service) map[string]store.KeyUse {
	t.Helper()
	found, err := service.tables.KeyUses(t.Context())
	require.NoError(t, err)
	uses := map[string]store.KeyUse{}
	for _, u := range found {
		uses[u.ID] = u
	}
	return uses
}

// histories is a Temporal with one workflow that started long ago.
type histories struct {
	scheduled int
	asked     time.Time
	err       error
}

func (h *histories) UseKey(context.Context) error { h.scheduled++; return h.err }

func (h *histories) StartedBefore(_ context.Context, at time.Time) (int64, error) {
	h.asked = at
	return 1, h.err
}

// fill makes a row of each kind that holds secrets, and files, and returns a check that all are readable.
func (s *service) fill(t *testing.T, clusters int) (readable func(t *testing.T, by *service)) {
	t.Helper()
	var ids []uuid.UUID
	var envs, hosts []uuid.UUID
	for n := range clusters {
		secret := fmt.Sprintf("secret-%d", n)
		c := &model.Cluster{ID: uuid.New(), Kind: model.KindCluster, Name: "c", Status: model.ClusterReady, PullSecret: model.Secret(secret)}
		require.NoError(t, s.tables.CreateCluster(t.Context(), c, func(*store.Tx) {}))
		e := &model.InfraEnv{ID: uuid.New(), ClusterID: &c.ID, Name: "e", PullSecret: model.Secret(secret)}
		require.NoError(t, s.tables.CreateInfraEnv(t.Context(), e, func(*store.Tx) {}))
		h, err := s.tables.RegisterHost(t.Context(), e.ID, uuid.New(), func() *model.Host {
			return &model.Host{
				ClusterID: &c.ID, Kind: model.KindHost, Status: model.HostKnown, Role: model.RoleAutoAssign,
				SuggestedRole: model.RoleMaster, AgentSteps: model.FineSteps,
			}
		}, func(h *model.Host, _ bool, tx *store.Tx) error { tx.CheckIn(h); return nil })
		require.NoError(t, err)
		_, err = s.tables.UpdateHost(t.Context(), e.ID, h.ID, func(h *model.Host, _ *store.Tx) error {
			h.IgnitionConfigOverrides = secret
			return nil
		})
		require.NoError(t, err)
		_, err = s.tables.ArmActivity(t.Context(), model.PendingActivity{
			ID: "step-" + c.ID.String(), Kind: model.ActivityStep, ClusterID: c.ID, InfraEnvID: &e.ID, HostID: &h.ID, Type: "image-write",
			Args:       []string{strings.Repeat(secret, 40)},
			WorkflowID: "w", RunID: c.ID.String(), ActivityID: "1", TaskToken: []byte("t"), Attempt: 1, HeartbeatEvery: time.Minute,
		})
		require.NoError(t, err)
		_, err = s.files.PutSecret(t.Context(), "clusters/"+c.ID.String()+"/kubeconfig", []byte(secret))
		require.NoError(t, err)
		_, err = s.files.Put(t.Context(), "clusters/"+c.ID.String()+"/metadata.json", []byte("{}"))
		require.NoError(t, err)
		log, err := s.files.Writer(t.Context(), "clusters/"+c.ID.String()+"/logs/host/logs.tar.gz")
		require.NoError(t, err)
		_, err = log.Write([]byte(strings.Repeat(secret, 20_000)))
		require.NoError(t, err)
		require.NoError(t, log.Close())
		ids, envs, hosts = append(ids, c.ID), append(envs, e.ID), append(hosts, h.ID)
	}
	return func(t *testing.T, by *service) {
		t.Helper()
		for n, id := range ids {
			secret := fmt.Sprintf("secret-%d", n)
			c, err := by.tables.Cluster(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, secret, c.PullSecret.Reveal())
			e, err := by.tables.InfraEnv(t.Context(), envs[n])
			require.NoError(t, err)
			require.Equal(t, secret, e.PullSecret.Reveal())
			h, err := by.tables.Host(t.Context(), envs[n], hosts[n])
			require.NoError(t, err)
			require.Equal(t, secret, h.IgnitionConfigOverrides)
			file, err := by.files.Get(t.Context(), "clusters/"+id.String()+"/kubeconfig")
			require.NoError(t, err)
			require.Equal(t, secret, string(file))
			log, err := by.files.Reader(t.Context(), "clusters/"+id.String()+"/logs/host/logs.tar.gz")
			require.NoError(t, err)
			all, err := io.ReadAll(log)
			require.NoError(t, err)
			require.NoError(t, log.Close())
			require.Equal(t, strings.Repeat(secret, 20_000), string(all))
		}
	}
}

// Every secret stays readable at every moment, and in the end without the old key.
func TestOldKeyEncryptsNothingAfterARotation(t *testing.T) {
	t.Parallel()
	site := newSite(t)
	s := site.start(t)
	require.NoError(t, s.Look(t.Context()))
	first := s.keys.Held()[0].ID()
	readable := s.fill(t, 3)
	require.Zero(t, s.temporal.scheduled, "the start of the service does it")

	second := site.rotate(t, s)
	other := site.start(t) // has both keys
	require.NoError(t, s.Look(t.Context()))
	require.Equal(t, 1, s.temporal.scheduled)
	readable(t, s)
	readable(t, other)
	uses := site.uses(t, s)
	require.Equal(t, int64(6*3), uses[second].Values, "a cluster, an InfraEnv, a host, a step and two files, three times")
	require.Zero(t, uses[first].Values)
	require.Equal(t, int64(1), uses[first].Workflows)
	require.Equal(t, uses[second].UsedSince.Add(time.Minute), s.temporal.asked, "others may have sealed a little longer with the old one")

	require.NoError(t, encryption.File{Path: site.keyFile}.RemoveKey(first))
	fresh := site.start(t)
	require.Len(t, fresh.keys.Held(), 1)
	readable(t, fresh)
	conn, err := pgx.Connect(t.Context(), site.url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	var args string
	require.NoError(t, conn.QueryRow(t.Context(), `select args::text from slipway.pending_activities limit 1`).Scan(&args))
	require.NotContains(t, args, `\n`)
}

// A process that is killed leaves some values with the new key and some with the old one; the next continues.
// Values of a key of 0.2.0 or before are encrypted with the key itself: a rotation gives each kind a key.
func TestARotationLeavesKeysOfEarlierVersions(t *testing.T) {
	t.Parallel()
	site := newSite(t)
	require.NoError(t, os.WriteFile(site.keyFile, []byte("BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=\n"), 0o600))
	service := site.start(t)
	readable := service.fill(t, 2)
	require.NoError(t, service.Look(t.Context()))
	counts, err := service.tables.SealedValues(t.Context())
	require.NoError(t, err)
	require.Len(t, counts, 1)
	for header := range counts {
		require.Equal(t, byte(1), header[0])
	}

	site.rotate(t, service)
	require.NoError(t, service.Look(t.Context()))
	counts, err = service.tables.SealedValues(t.Context())
	require.NoError(t, err)
	require.Len(t, counts, 1)
	for header := range counts {
		require.Equal(t, byte(2), header[0])
	}
	readable(t, service)
	for id, use := range site.uses(t, service) {
		require.Equal(t, id == service.keys.Held()[0].ID(), use.Values > 0, "%+v", use)
	}
}

func TestKilledRotationContinues(t *testing.T) {
	t.Parallel()
	site := newSite(t)
	s := site.start(t)
	readable := s.fill(t, 30)
	first := s.keys.Held()[0].ID()
	site.rotate(t, s)
	killed := 0
	for life := time.Millisecond; ; life = life * 6 / 5 { // a busy machine needs longer ones
		p := site.start(t)
		ctx, kill := context.WithTimeout(t.Context(), life)
		err := p.Look(ctx)
		kill()
		p.tables.Close()
		if err != nil {
			killed++
			readable(t, s)
			continue
		}
		// The session of a killed run may keep the lock for a moment: then this one has done nothing.
		if use := site.uses(t, s)[first]; !use.CountedAt.IsZero() && use.Values == 0 {
			break
		}
	}
	require.Positive(t, killed)
	require.Zero(t, site.uses(t, s)[first].Values)
	require.NoError(t, encryption.File{Path: site.keyFile}.RemoveKey(first))
	readable(t, site.start(t))
}

// Encrypting again never replaces a concurrent write by the value before it.
func TestWritersAndRotationDoNotUndoEachOther(t *testing.T) {
	t.Parallel()
	site := newSite(t)
	s := site.start(t)
	c := &model.Cluster{ID: uuid.New(), Kind: model.KindCluster, Name: "c", Status: model.ClusterReady, PullSecret: "p"}
	require.NoError(t, s.tables.CreateCluster(t.Context(), c, func(*store.Tx) {}))
	key := "clusters/" + c.ID.String() + "/manifests/a.yaml"
	written := make(chan error, 1)
	ctx, end := context.WithTimeout(t.Context(), 2*time.Second)
	defer end()
	go func() {
		for n := 0; ctx.Err() == nil; n++ {
			secret := fmt.Sprintf("p%d", n)
			if _, err := s.files.PutSecret(t.Context(), key, []byte(secret)); err != nil {
				written <- err
				return
			}
			if got, err := s.files.Get(t.Context(), key); err != nil || string(got) != secret {
				written <- fmt.Errorf("wrote %q, read %q: %w", secret, got, err)
				return
			}
			got, err := s.tables.UpdateCluster(t.Context(), c.ID, func(c *model.Cluster, _ *store.Tx) error {
				c.PullSecret = model.Secret(secret)
				return nil
			})
			if err == nil {
				got, err = s.tables.Cluster(t.Context(), c.ID)
			}
			if err != nil || got.PullSecret.Reveal() != secret {
				written <- fmt.Errorf("wrote %q to the row, read another: %w", secret, err)
				return
			}
		}
		written <- nil
	}()
	rotating := site.start(t)
	for ctx.Err() == nil {
		site.rotate(t, rotating)
		require.NoError(t, rotating.Look(t.Context()))
	}
	require.NoError(t, <-written)
}

func TestValuesThatNobodyCanDecryptAreNamedAndLeftAlone(t *testing.T) {
	t.Parallel()
	site := newSite(t)
	s := site.start(t)
	readable := s.fill(t, 2)
	first := s.keys.Held()[0].ID()
	conn, err := pgx.Connect(t.Context(), site.url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	lost := uuid.New()
	_, err = conn.Exec(t.Context(), `insert into slipway.clusters (id, kind, name, status, status_info, doc, secrets, created_at, updated_at, status_updated_at)
		select $1, kind, name, status, status_info, doc, secrets, created_at, updated_at, status_updated_at from slipway.clusters limit 1`, lost)
	require.NoError(t, err)

	site.rotate(t, s)
	other := byte(0) // a value names its key by one byte; no key of the file has this one
	for slices.ContainsFunc(s.keys.Held(), func(k encryption.Key) bool { return k.Header()[1] == other }) {
		other++
	}
	sealed := slices.Concat([]byte("\x00slipway-sealed\x00"), []byte{1, other}, make([]byte, 58))
	require.NoError(t, os.WriteFile(filepath.Join(site.dir, "blobs", "clusters", "lost"), sealed, 0o600))
	err = s.Look(t.Context())
	require.ErrorContains(t, err, lost.String(), "the value of one row in another")
	require.ErrorContains(t, err, "clusters/lost")
	readable(t, s)
	require.Equal(t, int64(1), site.uses(t, s)[first].Values, "it is still counted")
}

func TestRotationIsTriedAgainWhenTemporalDoesNotAnswer(t *testing.T) {
	t.Parallel()
	site := newSite(t)
	s := site.start(t)
	require.NoError(t, s.Look(t.Context()))
	second := site.rotate(t, s)
	s.temporal.err = errors.New("away")
	require.ErrorContains(t, s.Look(t.Context()), "away")
	require.NotContains(t, site.uses(t, s), second, "schedules would still start workflows with the old key")
	s.temporal.err = nil
	require.NoError(t, s.Look(t.Context()))
	require.Contains(t, site.uses(t, s), second)
}
