package cluster_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/openshift"
	"slipway/internal/sim/payload"
	"slipway/test/bench/coreos"
	hostprograms "slipway/test/bench/payload"
)

const (
	registryPort = "5000"
	payloadPort  = "8000"
	registry     = gateway + ":" + registryPort
	version      = "4.20.5"
)

// release to install, and the programs that nodes load.
type release struct {
	image string
	// auth opens its registry, for whom it is named by.
	registry, auth string
	kube           string // archive with kubectl in it
}

// archive is one that nodes unpack; the settings of the bench's installer list them.
type archive struct {
	URL    string `json:"url"`
	SHA256 string `json:"sha256"`
}

// newRelease serves the release and its programs on the gateway, or the release on the other side of a gap.
func newRelease(t *testing.T, l *site, g *gap) release {
	t.Helper()
	files := filepath.Join(l.dir, "payload")
	require.NoError(t, os.Mkdir(files, 0o755))
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	kube, err := coreos.Kube(
		t.Context(),
		coreos.Cache{Dir: coreos.Dir(cache), Log: os.Stderr},
		coreos.KubeOptions{Source: absolute(t, "../kube")},
	)
	require.NoError(t, err)
	require.NoError(t, os.Symlink(kube, filepath.Join(files, "kube.tar.zst")))
	built, err := hostprograms.Build(t.Context(), files)
	require.NoError(t, err)
	kubeSum, err := hostprograms.Sum(kube)
	require.NoError(t, err)

	server := &http.Server{Handler: http.FileServer(http.Dir(files)), ReadHeaderTimeout: time.Minute}
	go server.Serve(l.listen(t, payloadPort))
	t.Cleanup(func() { _ = server.Close() })

	settings, err := json.Marshal(
		map[string]any{"archives": []archive{{address("kube.tar.zst"), kubeSum}, {address(filepath.Base(built.Archive)), built.SHA256}}},
	)
	require.NoError(t, err)
	settingsFile := filepath.Join(l.dir, "installer.json")
	require.NoError(t, os.WriteFile(settingsFile, settings, 0o644)) // the installer runs as a user of its own
	options := payload.Options{
		Dial: l.Dial, Versions: []string{version}, Architecture: "amd64", InstallerCommand: []string{built.Installer, "--settings", settingsFile},
	}
	r := release{kube: kube, registry: registry, auth: "bench:bench"}
	if g == nil {
		options.Listener = l.listen(t, registryPort)
	} else {
		options.Listener = l.Listen(t, "tcp", "127.0.0.1:"+registryPort)
		options.Name, options.User, options.Password = source, mirrorUser, mirrorPassword
		r.registry, r.auth = mirrorHost, mirrorUser+":"+mirrorPassword
	}
	p, err := payload.Serve(t.Context(), options)
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close() })
	if g != nil {
		g.serveMirror(t, p.Address())
	}
	r.image = p.ReleaseImage(version)
	return r
}

// address returns where a host loads an archive from.
func address(file string) string { return fmt.Sprintf("http://%s:%s/%s", gateway, payloadPort, file) }

// offers makes RELEASE_IMAGES.
func (r release) offers(t *testing.T) string {
	t.Helper()
	return text(t, []openshift.Release{{
		Version: version, DisplayName: version, CPUArchitectures: []string{"x86_64"}, SupportLevel: "production", Default: true,
		Image: r.image,
	}})
}

// pullSecret opens the registry of the release; its entries for registries that a bench has no route to open nothing.
func (r release) pullSecret(t *testing.T) string {
	t.Helper()
	auths := map[string]any{}
	for _, host := range []string{"cloud.openshift.com", "quay.io", "registry.redhat.io"} {
		auths[host] = map[string]string{"auth": base64.StdEncoding.EncodeToString([]byte("of:elsewhere"))}
	}
	auths[r.registry] = map[string]string{"auth": base64.StdEncoding.EncodeToString([]byte(r.auth))}
	return text(t, map[string]any{"auths": auths})
}

func text(t *testing.T, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	require.NoError(t, err)
	return string(out)
}
