package images

import (
	"bufio"
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
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
	"slipway/internal/testing/await"
	"slipway/internal/testing/httpclient"
	"slipway/internal/testing/isotest"
)

// variables are an environment.
type variables map[string]string

func (v variables) Environ() []string { return nil }

func (v variables) LookupEnv(name string) (string, bool) {
	value, found := v[name]
	return value, found
}

func testProcess(stdout io.Writer, env variables) *process.Process {
	return &process.Process{Stdout: stdout, Stderr: io.Discard, Log: slog.New(slog.DiscardHandler), Env: env, Now: time.Now}
}

// execute runs slipway images with args.
func execute(ctx context.Context, p *process.Process, args []string) error {
	sources := &settings.Sources{Env: p.Env}
	parser, err := kong.New(&Commands{}, kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(p, sources), kong.Bind(&usercli.Terminal{}))
	if err != nil {
		return err
	}
	line, err := parser.Parse(args)
	if err != nil {
		return err
	}
	return line.Run()
}

// runImages runs the image service until the test ends, and gives its address.
func runImages(t *testing.T, env variables, args ...string) string {
	t.Helper()
	out, in := io.Pipe()
	p := testProcess(in, env)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		err := execute(ctx, p, append([]string{"--data-dir", t.TempDir()}, args...))
		_ = in.CloseWithError(cmp.Or(err, io.EOF)) // a service that does not start says why
		ended <- err
	}()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	_, address, found := strings.Cut(strings.TrimSpace(line), ": images ")
	require.True(t, found, line)
	return address
}

// read asks for an address and requires a status.
func read(t *testing.T, client *http.Client, address string, status int) string {
	t.Helper()
	response, err := client.Get(address)
	require.NoError(t, err)
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, status, response.StatusCode, "%s: %.300s", address, content)
	return string(content)
}

func osImage(version, url string) string {
	return fmt.Sprintf(`[{"openshift_version":%q,"cpu_architecture":"x86_64","version":"9.6","url":%q}]`, version, url)
}

func TestImagesAloneAreReadyWhenNoneIsOnItsWay(t *testing.T) {
	iso := isotest.Build(t, isotest.Options{})
	release := make(chan struct{})
	mirror := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
			http.NotFound(w, r)
		case <-r.Context().Done():
		}
	}))
	defer mirror.Close()
	list := strings.TrimSuffix(osImage("4.22", iso), "]") + "," + strings.TrimPrefix(osImage("4.20", mirror.URL+"/live.iso"), "[")
	address := runImages(t, variables{"ASSISTED_SERVICE_HOST": "127.0.0.1:1"}, "--listen", "127.0.0.1:0", "--os-images", list)
	for _, path := range []string{"/health", "/live"} {
		require.JSONEq(t, `{"status":"ok"}`, read(t, httpclient.New(t), address+path, http.StatusOK))
	}
	waiting := read(t, httpclient.New(t), address+"/ready", http.StatusServiceUnavailable)
	require.Contains(t, waiting, `"status":"not ready"`)
	require.Contains(t, waiting, `"4.22 (x86_64)":"ready"`)
	read(t, httpclient.New(t), address+"/boot-artifacts/kernel?version=4.22", http.StatusOK) // although the other one is not there
	close(release)
	await.True(t, func() bool {
		response, err := httpclient.New(t).Get(address + "/ready")
		if err != nil {
			return false
		}
		defer response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
	require.Contains(t, read(t, httpclient.New(t), address+"/ready", http.StatusOK), `"4.20 (x86_64)":"failed: `)
	require.Contains(t, read(t, httpclient.New(t), address+"/metrics", http.StatusOK),
		`slipway_image_requests_total{artifact="kernel",code="200"} 1`)
	require.Contains(t, read(t, httpclient.New(t), address+"/boot-artifacts/kernel?version=4.10", http.StatusNotFound),
		"slipway images add FILE")
}

func TestImagesAloneSpeakHTTPSAndLittleElse(t *testing.T) {
	iso := isotest.Build(t, isotest.Options{})
	certificate, key, roots := certificateFor(t)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(free.Addr().String())
	require.NoError(t, err)
	require.NoError(t, free.Close())
	address := runImages(t, variables{}, "--listen", "127.0.0.1:0", "--os-images", osImage("4.22", iso), "--service-url", "http://127.0.0.1:1",
		"--tls-cert", certificate, "--tls-key", key, "--http-port", port)
	require.True(t, strings.HasPrefix(address, "https://"), address)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}}
	kernel := read(t, client, address+"/boot-artifacts/kernel?version=4.22", http.StatusOK)
	require.Regexp(t, `(?m)^slipway_certificate_end_seconds 1\.\d+e\+09$`, read(t, client, address+"/metrics", http.StatusOK))
	plain := "http://127.0.0.1:" + port
	require.Equal(t, kernel, read(t, httpclient.New(t), plain+"/boot-artifacts/kernel?version=4.22", http.StatusOK))
	const id = "/images/00000000-0000-0000-0000-000000000001"
	read(t, httpclient.New(t), plain+id+"/pxe-initrd?version=4.22", http.StatusServiceUnavailable) // its API is away
	for _, closed := range []string{id + "?version=4.22&type=full-iso", "/byid/00000000-0000-0000-0000-000000000001/4.22/x86_64/full.iso"} {
		read(t, httpclient.New(t), plain+closed, http.StatusNotFound)
		read(t, client, address+closed, http.StatusServiceUnavailable)
	}
}

func TestImagesAloneSayWhatIsMissing(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"--service-url, the address of the API, is required": {},
		"read --service-url: require an address":             {"--service-url", "service"},
		"--tls-cert and --tls-key are required together":     {"--service-url", "http://127.0.0.1:1", "--tls-cert", "a"},
		"--http-port requires --tls-cert and --tls-key":      {"--service-url", "http://127.0.0.1:1", "--http-port", "1"},
		"read OS_IMAGES": {"--service-url", "http://127.0.0.1:1", "--os-images", "{"},
	} {
		err := execute(t.Context(), testProcess(io.Discard, variables{}),
			append([]string{"--data-dir", t.TempDir(), "--listen", "127.0.0.1:0"}, args...))
		require.ErrorContains(t, err, want)
	}
}

// certificateFor makes a certificate of loopback.
func certificateFor(t *testing.T) (certificate, key string, roots *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	require.NoError(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	dir := t.TempDir()
	certificate, key = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	content := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	require.NoError(t, os.WriteFile(certificate, content, 0o600))
	require.NoError(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), 0o600))
	roots = x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(content))
	return certificate, key, roots
}
