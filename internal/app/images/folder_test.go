package images

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"slipway/internal/app/process"
	"slipway/internal/app/settings"
	usercli "slipway/internal/cli"
	"slipway/internal/cluster/openshift"
	"slipway/internal/testing/isotest"
)

// folderCommands are the commands of this file, as the command line has them.
type folderCommands struct {
	Add    addCommand    `cmd:""`
	List   listCommand   `cmd:""`
	Remove removeCommand `cmd:""`
}

// onFolder runs one of them.
func onFolder(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errs bytes.Buffer
	p := &process.Process{Stdout: &out, Stderr: &errs, Log: slog.New(slog.DiscardHandler), Now: time.Now}
	terminal := &usercli.Terminal{Out: &out, Err: &errs, Now: time.Now}
	parser, err := kong.New(&folderCommands{}, kong.BindTo(t.Context(), (*context.Context)(nil)), kong.Bind(p), kong.Bind(terminal))
	require.NoError(t, err)
	line, err := parser.Parse(args)
	if err != nil {
		return "", "", err
	}
	err = line.Run()
	return out.String(), errs.String(), err
}

func TestImagesAreAddedListedAndRemoved(t *testing.T) {
	t.Parallel()
	iso, dir := isotest.Build(t, isotest.Options{}), t.TempDir()
	content, err := os.ReadFile(iso)
	require.NoError(t, err)
	digest := sha256.Sum256(content)
	sum := hex.EncodeToString(digest[:])

	stdout, stderr, err := onFolder(t, "add", iso, "--openshift-version", "4.22", "--sha256", sum, "--data-dir", dir)
	require.NoError(t, err)
	require.Contains(t, stdout, "operating system image of OpenShift 4.22 (x86_64) added: version 9.6.0, ")
	require.Contains(t, stdout, "sha256 "+sum+"\n"+filepath.Join(dir, "images", "4.22-x86_64-"+sum[:12]+".iso"))
	require.Contains(t, stderr, "copying: 100 %\n")

	list := `[{"openshift_version":"4.20","cpu_architecture":"x86_64","url":"https://mirror.example/a.iso","version":"9.4"}]`
	stdout, _, err = onFolder(t, "list", "--image-dir", filepath.Join(dir, "images"), "--os-images", list)
	require.NoError(t, err)
	require.Regexp(t, `VERSION  ARCH    TYPE  SYSTEM  STATE    SIZE +FROM +SHA256 +FILE\n4\.22     x86_64  live  9\.6\.0   ready    .* [KM]iB +added +[0-9a-f]{12}  /.*\n4\.20     x86_64  live  9\.4     waiting +settings +/.*\n$`, stdout)
	stdout, _, err = onFolder(t, "list", "--data-dir", dir, "-o", "json")
	require.NoError(t, err)
	require.Contains(t, stdout, `"state": "ready"`)

	stdout, _, err = onFolder(t, "remove", "--openshift-version", "4.22", "--data-dir", dir)
	require.NoError(t, err)
	require.Contains(t, stdout, "removed "+filepath.Join(dir, "images", "4.22-x86_64-"))
	_, _, err = onFolder(t, "remove", "--openshift-version", "4.22", "--data-dir", dir)
	require.ErrorContains(t, err, "no image for OpenShift 4.22 (x86_64)")
	require.Equal(t, 3, usercli.ExitCode(err))
}

func TestAnImageThatIsNoneIsNotAdded(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file.iso")
	require.NoError(t, os.WriteFile(file, []byte("no ISO"), 0o600))
	_, _, err := onFolder(t, "add", file, "--openshift-version", "4.22", "--data-dir", t.TempDir())
	require.ErrorContains(t, err, "add operating system image: "+file+": require a live ISO of CoreOS: ")
	_, _, err = onFolder(t, "add", file, "--data-dir", t.TempDir())
	require.ErrorContains(t, err, "--openshift-version")
}

func TestSettingsOfImageDownloads(t *testing.T) {
	t.Parallel()
	p := &process.Process{Log: slog.New(slog.DiscardHandler), Now: time.Now}
	out, err := StoreOptions(settings.Downloads{ImageHeaders: `{"X-Key":"hush"}`, ImageQuery: `{"token":"quiet"}`}, p, "/data", nil, false)
	require.NoError(t, err)
	require.Equal(t, "/data/images", out.Folder)
	require.Equal(t, "hush", out.Headers["X-Key"].Reveal())
	require.Equal(t, "quiet", out.Query["token"].Reveal())

	_, err = StoreOptions(settings.Downloads{ImageHeaders: `{"X-Key":["hush"]}`}, p, "/data", nil, false)
	require.EqualError(t, err, `read OS_IMAGES_REQUEST_HEADERS: require a JSON object of texts, such as {"name":"value"}`)
	_, err = StoreOptions(settings.Downloads{ImageQuery: `[]`}, p, "/data", nil, false)
	require.ErrorContains(t, err, "read OS_IMAGES_REQUEST_QUERY_PARAMS: ")
	none := filepath.Join(t.TempDir(), "none.pem")
	_, err = StoreOptions(settings.Downloads{ImageCA: none}, p, "/data", nil, false)
	require.ErrorContains(t, err, "read OS_IMAGE_DOWNLOAD_TRUSTED_CA_FILE: open ")
	require.NoError(t, os.WriteFile(none, []byte("no certificate"), 0o600))
	_, err = StoreOptions(settings.Downloads{ImageCA: none}, p, "/data", nil, false)
	require.ErrorContains(t, err, "no PEM certificate found in")
}

func TestImagesWithoutADigestAreRefusedWhereItIsRequired(t *testing.T) {
	t.Parallel()
	p := &process.Process{Log: slog.New(slog.DiscardHandler), Now: time.Now}
	with := openshift.OSImage{OpenShiftVersion: "4.22", CPUArchitecture: "x86_64", SHA256: strings.Repeat("a", 64)}
	without := openshift.OSImage{OpenShiftVersion: "4.21", CPUArchitecture: "arm64"}
	_, err := StoreOptions(settings.Downloads{ImageDigests: "required"}, p, "/data", openshift.OSImages{with}, false)
	require.NoError(t, err)
	_, err = StoreOptions(settings.Downloads{ImageDigests: "optional"}, p, "/data", openshift.OSImages{with, without}, false)
	require.NoError(t, err)
	_, err = StoreOptions(settings.Downloads{ImageDigests: "required"}, p, "/data", openshift.OSImages{with, without}, false)
	require.ErrorContains(t, err, "OS_IMAGE_DIGESTS=required: require sha256 of the operating system image of OpenShift 4.21 (arm64)")
}

func TestImageDownloadsTrustTheCertificatesOfTheSettings(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
	p := &process.Process{Log: slog.New(slog.DiscardHandler), Now: time.Now}
	for file, trusted := range map[string]bool{ca: true, "": false} {
		out, err := StoreOptions(settings.Downloads{ImageCA: file}, p, "/data", nil, false)
		require.NoError(t, err)
		require.NotNil(t, out.Client.Transport.(*http.Transport).Proxy, "of the environment")
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
		require.NoError(t, err)
		answer, err := out.Client.Do(request)
		if !trusted {
			require.ErrorContains(t, err, "certificate")
			continue
		}
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
	}
}
