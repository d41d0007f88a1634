package activities_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"slipway/activities"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/images/release"
	"slipway/internal/images/release/signature"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/sim/payload"
	"slipway/internal/testing/unraced"
	"slipway/internal/wire"
)

// moving is a preparation whose registry has two releases, of which the cluster names the first by its tag.
type moving struct {
	*preparation
	served *payload.Payload
	digest string // of the first
	dir    string // of the service's programs
}

func prepareMoving(t *testing.T, policy signature.Policy, signed bool) *moving {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	m := &moving{dir: t.TempDir()}
	m.served, err = payload.Serve(t.Context(), payload.Options{
		Versions: []string{"4.20.33", "4.20.34"}, Architecture: "amd64", InstallerCommand: []string{self, "sim-installer"},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.served.Close()) })
	m.preparation = prepare(t, func(c *model.Cluster) { c.ReleaseImage = m.served.ReleaseImage("4.20.33") },
		model.RoleMaster, model.RoleMaster, model.RoleMaster)
	ref, err := name.ParseReference(m.served.ReleaseImage("4.20.33"), name.Insecure)
	require.NoError(t, err)
	found, err := remote.Head(ref)
	require.NoError(t, err)
	m.digest = found.Digest.String()
	o := release.Options{PlainHTTP: []string{m.served.Address()}, Architecture: "amd64", Now: time.Now}
	o.Signatures = verifier(t, policy, m.digest, signed)
	releases, err := release.Open(m.dir, o)
	require.NoError(t, err)
	t.Cleanup(releases.Close)
	m.files.Releases = releases
	return m
}

// verifier has a store of its own, with a signature of the digest or none.
func verifier(t *testing.T, policy signature.Policy, digest string, signed bool) signature.Options {
	t.Helper()
	key, err := openpgp.NewEntity("Release", "", "release@example.com", nil)
	require.NoError(t, err)
	folder := t.TempDir()
	if signed {
		var message bytes.Buffer
		w, err := openpgp.Sign(&message, key, nil, nil)
		require.NoError(t, err)
		_, err = w.Write([]byte(`{"critical":{"type":"atomic container signature","image":{"docker-manifest-digest":"` + digest +
			`"},"identity":{"docker-reference":"quay.io/openshift-release-dev/ocp-release:4.20.33-x86_64"}}}`))
		require.NoError(t, err)
		require.NoError(t, w.Close())
		file := filepath.Join(folder, strings.Replace(digest, ":", "=", 1), "signature-1")
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, message.Bytes(), 0o600))
	}
	at, err := signature.ParseStore("file://" + folder)
	require.NoError(t, err)
	return signature.Options{Policy: policy, Keys: openpgp.EntityList{key}, Stores: []signature.Store{at}}
}

// moveTag lets the tag that the cluster names lead to the other release.
func (m *moving) moveTag() {
	m.t.Helper()
	other, err := name.ParseReference(m.served.ReleaseImage("4.20.34"), name.Insecure)
	require.NoError(m.t, err)
	image, err := remote.Image(other)
	require.NoError(m.t, err)
	tag, err := name.NewTag(m.served.ReleaseImage("4.20.33"), name.Insecure)
	require.NoError(m.t, err)
	require.NoError(m.t, remote.Tag(tag, image))
}

func (m *moving) run(activity func(context.Context, activities.InstallRequest) error) error {
	suite := &testsuite.WorkflowTestSuite{}
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivity(activity)
	_, err := env.ExecuteActivity(activity, activities.InstallRequest{ClusterID: m.cluster.ID})
	return err
}

func (m *moving) found() *model.Cluster {
	m.t.Helper()
	c, err := m.store.Cluster(m.t.Context(), m.cluster.ID)
	require.NoError(m.t, err)
	return c
}

// verdicts returns the events about the signature.
func (m *moving) verdicts() (all []string) {
	m.t.Helper()
	page, err := m.store.Events(m.t.Context(), store.EventFilter{ClusterID: m.cluster.ID})
	require.NoError(m.t, err)
	for _, e := range page.Events {
		if strings.HasPrefix(e.Name, "release_") {
			all = append(all, string(e.Severity)+": "+e.Message)
		}
	}
	return all
}

func TestAMovedTagChangesNothingOfAnInstallation(t *testing.T) {
	unraced.Test(t)
	t.Parallel()
	m := prepareMoving(t, signature.Require, true)
	require.NoError(t, m.run(m.files.ResolveRelease))
	m.moveTag()
	require.NoError(t, m.run(m.files.ResolveRelease), "another attempt of the activity")
	require.NoError(t, m.run(m.files.ExtractInstaller))
	require.NoError(t, m.generate())

	pinned := strings.TrimSuffix(m.served.ReleaseImage("4.20.33"), ":4.20.33-x86_64") + "@" + m.digest
	c := m.found()
	require.Equal(t, pinned, c.ReleasePullSpec)
	require.Equal(t, m.served.ReleaseImage("4.20.33"), c.ReleaseImage, "as the user named it")
	require.Equal(t, pinned, m.inBootstrap("/opt/openshift/release-image"))
	require.Regexp(t, `^OpenPGP key [0-9A-F]{40}$`, c.ReleaseVerdict.SignedBy)
	require.Equal(t, []string{"info: Release " + pinned + " is signed by " + c.ReleaseVerdict.SignedBy}, m.verdicts())

	args, err := (&activities.StepArgs{Store: m.store, Releases: m.files.Releases}).
		StepArgs(t.Context(), string(wire.StepTypeContainerImageAvailability), c, m.hosts[0])
	require.NoError(t, err)
	require.Contains(t, args[0], pinned, "what hosts pull")
	require.NotContains(t, args[0], "4.20.33")

	// The next installation asks the registry again.
	_, err = m.store.UpdateCluster(t.Context(), c.ID, func(c *model.Cluster, tx *store.Tx) error {
		c.Status = model.ClusterReady
		_, err := lifecycle.ApplyCluster(c, lifecycle.PrepareCluster, lifecycle.ClusterFacts{}, tx)
		return err
	})
	require.NoError(t, err)
	require.Empty(t, m.found().ReleasePullSpec)
	require.Empty(t, m.found().ReleaseVerdict)
}

func TestAReleaseWithoutASignatureEndsThePreparation(t *testing.T) {
	unraced.Test(t)
	t.Parallel()
	m := prepareMoving(t, signature.Require, false)
	err := m.run(m.files.ResolveRelease)
	var failure *temporal.ApplicationError
	require.ErrorAs(t, err, &failure)
	require.True(t, failure.NonRetryable())
	require.Equal(t, activities.FailureRefused, failure.Type())
	require.Contains(t, failure.Message(), "require a signature of release "+m.digest)
	require.Contains(t, failure.Message(), "/signature-1: there is none")
	require.Empty(t, m.found().ReleasePullSpec)
	require.ErrorContains(t, m.run(m.files.ExtractInstaller), "require a signature", "as a workflow of before asks for it")
	require.ErrorContains(t, m.generate(), "require a signature")
	programs, err := filepath.Glob(filepath.Join(m.dir, "installers", "[^.]*"))
	require.NoError(t, err)
	require.Empty(t, programs)
}

func TestAReleaseWithoutASignatureIsShownWhereThePolicyWarns(t *testing.T) {
	unraced.Test(t)
	t.Parallel()
	m := prepareMoving(t, signature.Warn, false)
	require.NoError(t, m.run(m.files.ResolveRelease))
	c := m.found()
	require.Equal(t, "warn", c.ReleaseVerdict.Policy)
	require.Contains(t, c.ReleaseVerdict.Problem, "/signature-1: there is none")
	require.Equal(t, []string{"warning: The signature of release " + c.ReleasePullSpec + " was not verified: " + c.ReleaseVerdict.Problem},
		m.verdicts())
}
