package doctor_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/contrib/envconfig"

	"slipway/internal/app/doctor"
	"slipway/internal/app/process"
	"slipway/internal/app/service"
	"slipway/internal/app/settings"
	"slipway/internal/platform/certificates"
)

// variables are the environment of a service.
type variables map[string]string

func (v variables) LookupEnv(name string) (string, bool) { value, set := v[name]; return value, set }

func (v variables) Environ() (all []string) {
	for name, value := range v {
		all = append(all, name+"="+value)
	}
	return all
}

var _ envconfig.EnvLookup = variables{}

// patient makes a set-up in order that needs no internet.
func patient(t *testing.T, args ...string) doctor.Patient {
	t.Helper()
	var line settings.Up
	parser, err := kong.New(&line, kong.Bind(&settings.Sources{Env: variables{}}))
	require.NoError(t, err)
	programs := t.TempDir()
	for _, architecture := range []string{"amd64", "arm64", "ppc64le", "s390x"} {
		for _, name := range []string{"slipway-agent-", "slipway-controller-"} {
			require.NoError(t, os.WriteFile(filepath.Join(programs, name+architecture), nil, 0o600))
		}
	}
	image := filepath.Join(t.TempDir(), "live.iso")
	require.NoError(t, os.WriteFile(image, nil, 0o600))
	_, err = parser.Parse(append([]string{
		"--data-dir", filepath.Join(t.TempDir(), "d"), "--listen", "127.0.0.1:0", "--base-url", "https://slipway.example.com:8090",
		"--agent-binaries", programs, "--release-sources", "[]", "--max-connections", "1000",
		"--release-images", `[{"openshift_version":"4.20","version":"4.20.5","cpu_architectures":["x86_64"],"url":"` + registry(t) +
			`/release:4.20.5"}]`,
		"--os-images", `[{"openshift_version":"4.20","cpu_architecture":"x86_64","url":"file://` + image + `","version":"9.6"}]`,
	}, args...))
	require.NoError(t, err)
	here := netip.MustParseAddr("192.0.2.2")
	p := &process.Process{Stdout: io.Discard, Stderr: io.Discard, Log: slog.New(slog.DiscardHandler), Env: variables{}, Now: time.Now}
	return doctor.Patient{
		Settings: line, Reader: service.New(p, line.Service), Ports: func(int) error { return nil },
		Process: p,
		Machine: doctor.Machine{
			Clock: func() (bool, error) { return true, nil }, Free: func(string) (uint64, error) { return 100 << 30, nil },
			Descriptors: func(int) (uint64, error) { return 65536, nil },
			Resolve:     func(context.Context, string) ([]netip.Addr, error) { return []netip.Addr{here}, nil },
			Own:         func() ([]netip.Addr, error) { return []netip.Addr{here}, nil },
		},
	}
}

// registry answers as one does without a login, on a port that settings call insecure.
func registry(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func insecure(p doctor.Patient) doctor.Patient {
	var releases []struct{ URL string }
	if json.Unmarshal([]byte(p.Settings.ReleaseImages), &releases) == nil && len(releases) > 0 {
		p.Settings.InsecureRegistry = append(p.Settings.InsecureRegistry, strings.Split(releases[0].URL, "/")[0])
	}
	return p
}

// TestDoctorAsksForALiveImageAsADownloadDoes has a source that wants the authority, a header and a signature of the settings.
func TestDoctorAsksForALiveImageAsADownloadDoes(t *testing.T) {
	t.Parallel()
	source := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.Header.Get("X-Mirror-Key") != "k1" || r.URL.Query().Get("signature") != "s1" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		w.WriteHeader(http.StatusPartialContent)
	}))
	t.Cleanup(source.Close)
	authority := filepath.Join(t.TempDir(), "authority.pem")
	encoded := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: source.Certificate().Raw})
	require.NoError(t, os.WriteFile(authority, encoded, 0o600))
	listed := []string{"--os-images", `[{"openshift_version":"4.20","cpu_architecture":"x86_64","url":"` + source.URL +
		`/live.iso?account=a1","version":"9.6"}]`}
	trusted := append([]string{"--image-download-ca", authority}, listed...)
	for _, test := range []struct {
		name  string
		args  []string
		level doctor.Level
		found string
	}{
		{
			name: "as the settings say", level: doctor.OK, found: "the image of OpenShift 4.20 can be downloaded",
			args: append([]string{"--image-download-headers", `{"X-Mirror-Key":"k1"}`, "--image-download-query", `{"signature":"s1"}`}, trusted...),
		},
		{
			name: "without the header", level: doctor.Problem, args: trusted,
			found: "the image of OpenShift 4.20 cannot be downloaded: get " + source.URL + "/live.iso: require 200 OK, found 403 Forbidden",
		},
		{
			name: "without the authority", level: doctor.Problem, args: listed,
			found: "get " + source.URL + "/live.iso: tls: failed to verify certificate: x509: certificate signed by unknown authority",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for _, f := range doctor.Examine(t.Context(), insecure(patient(t, test.args...))) {
				if f.Check == "live images" {
					require.Equal(t, test.level, f.Level, "%+v", f)
					require.Contains(t, f.Found, test.found)
					return
				}
			}
			require.Fail(t, "live images were not examined")
		})
	}
}

func TestDoctorFindsNothingWhereAllIsInOrder(t *testing.T) {
	t.Parallel()
	found := doctor.Examine(t.Context(), insecure(patient(t)))
	for _, f := range found {
		require.Equal(t, doctor.OK, f.Level, "%+v", f)
		require.Empty(t, f.Do, f.Check)
	}
	require.Equal(t, doctor.OK, doctor.Worst(found))
	require.Greater(t, len(found), 9)
	require.Equal(t, "found 0 problems and 0 warnings", doctor.Count(found))
}

// certificate writes a certificate of another authority, and returns the flags for it and the authority's file.
func certificate(t *testing.T, name string, life time.Duration) (flags []string, authority string) {
	t.Helper()
	dir := t.TempDir()
	ca, pair, err := certificates.NewAuthority(x509.Certificate{Subject: pkix.Name{CommonName: "corp"}}, time.Now(), 24*time.Hour)
	require.NoError(t, err)
	template := x509.Certificate{DNSNames: []string{name}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	server, err := ca.Issue(template, time.Now(), life)
	require.NoError(t, err)
	paths := map[string][]byte{"server.pem": server.Certificate, "server.key": server.Key, "ca.pem": pair.Certificate}
	for file, text := range paths {
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), text, 0o600))
	}
	in := func(file string) string { return filepath.Join(dir, file) }
	return []string{"--tls-cert", in("server.pem"), "--tls-key", in("server.key")}, in("ca.pem")
}

func TestDoctorNamesWhatIsBroken(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = taken.Close() })
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	closed := free.Addr().String()
	require.NoError(t, free.Close())
	foreign, authority := certificate(t, "slipway.example.com", 12*time.Hour)
	otherName, otherAuthority := certificate(t, "other.example.com", 12*time.Hour)
	ended, endedAuthority := certificate(t, "slipway.example.com", time.Nanosecond)
	mirror := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(mirror.Close)
	mirrors := filepath.Join(t.TempDir(), "registries.conf")
	require.NoError(t, os.WriteFile(mirrors, []byte("[[registry]]\nlocation = \"quay.io\"\n[[registry.mirror]]\nlocation = \""+
		strings.TrimPrefix(mirror.URL, "https://")+"/ocp\"\n"), 0o600))
	for _, test := range []struct {
		name  string
		args  []string
		spoil func(t *testing.T, p *doctor.Patient)
		check string
		level doctor.Level
		found string
		do    string
	}{
		{
			name: "a setting that cannot be read", args: []string{"--heartbeat", "3s"}, check: "settings", level: doctor.Problem,
			found: "read --heartbeat: require a duration of at least 15s, found 3s", do: "slipway config show",
		},
		{
			name: "another program has the port", args: []string{"--listen", taken.Addr().String()}, check: "port", level: doctor.Problem,
			found: "address already in use", do: "ss -ltnp",
		},
		{
			name: "an address of another machine", args: []string{"--listen", "192.0.2.77:8090"}, check: "port", level: doctor.Problem,
			found: "cannot assign requested address", do: "ip address",
		},
		{
			name: "hosts get loopback", args: []string{"--base-url", "https://127.0.0.1:8090"}, check: "address", level: doctor.Warning,
			found: "hosts get https://127.0.0.1:8090, which only this machine reaches", do: "--listen",
		},
		{
			name: "a name that no server knows", check: "address", level: doctor.Problem,
			spoil: func(_ *testing.T, p *doctor.Patient) {
				p.Machine.Resolve = func(context.Context, string) ([]netip.Addr, error) {
					return nil, errors.New("lookup slipway.example.com: no such host")
				}
			},
			found: "lookup slipway.example.com: no such host", do: "DNS",
		},
		{
			name: "a name of another machine", check: "address", level: doctor.Warning,
			spoil: func(_ *testing.T, p *doctor.Patient) {
				p.Machine.Own = func() ([]netip.Addr, error) { return []netip.Addr{netip.MustParseAddr("192.0.2.3")}, nil }
			},
			found: "is no address of this machine: [192.0.2.2]", do: "load balancer",
		},
		{
			name: "a certificate that hosts do not trust", args: foreign, check: "certificate", level: doctor.Problem,
			found: "hosts trust the certificates of their system, and refuse", do: "--service-ca",
		},
		{
			name: "a certificate for another name", args: append(otherName, "--service-ca", otherAuthority),
			check: "certificate", level: doctor.Problem,
			found: "valid for other.example.com, not slipway.example.com", do: "--base-url",
		},
		{
			name: "a certificate that has ended", args: append(ended, "--service-ca", endedAuthority), check: "certificate", level: doctor.Problem,
			found: "certificate has expired", do: "replace it",
		},
		{
			name: "a certificate that ends soon", args: append(foreign, "--service-ca", authority), check: "certificate", level: doctor.Warning,
			found: " ends at ", do: "replace it",
		},
		{
			name: "a key that does not fit", args: []string{"--tls-cert", foreign[1], "--tls-key", otherName[3]},
			check: "certificate", level: doctor.Problem,
			found: "private key does not match", do: "--tls-key",
		},
		{
			name: "no key file beside the database", check: "files", level: doctor.Problem,
			spoil: func(t *testing.T, p *doctor.Patient) { t.Helper(); used(t, p, "token.key", "tls/ca.pem", "tls/ca.key") },
			found: "/d/keys is missing beside a database that was used with it", do: "restore it from the backup",
		},
		{
			name: "no authority beside the database", check: "files", level: doctor.Problem,
			spoil: func(t *testing.T, p *doctor.Patient) { t.Helper(); used(t, p, "keys", "token.key", "tls/ca.key") },
			found: "/d/tls/ca.pem is missing", do: "restore it from the backup",
		},
		{
			name: "PostgreSQL of another version", check: "PostgreSQL", level: doctor.Problem,
			spoil: func(t *testing.T, p *doctor.Patient) { t.Helper(); used(t, p) },
			found: "PostgreSQL", do: "--database-url",
		},
		{
			name: "a long path", args: []string{"--data-dir", "/" + strings.Repeat("long/", 25)}, check: "PostgreSQL", level: doctor.Problem,
			found: "is too long", do: "--database-url",
		},
		{
			name: "a database that does not answer", args: []string{"--database-url", "postgres://slipway@" + closed + "/slipway"},
			check: "PostgreSQL",
			level: doctor.Problem, found: "connection refused", do: "pg_hba.conf",
		},
		{
			name: "a Temporal that does not answer", check: "Temporal", level: doctor.Problem,
			spoil: func(_ *testing.T, p *doctor.Patient) { p.Process.Env = variables{"TEMPORAL_ADDRESS": closed} },
			found: closed, do: "TEMPORAL_ADDRESS",
		},
		{
			name: "Temporal's ports are taken", check: "Temporal", level: doctor.Problem,
			spoil: func(_ *testing.T, p *doctor.Patient) {
				p.Ports = func(int) error { return errors.New("port 7233 is taken") }
			},
			found: "port 7233 is taken", do: "--temporal-port",
		},
		{
			name: "a mirror of an unknown authority", args: []string{"--mirror-registries", mirrors}, check: "registry", level: doctor.Problem,
			found: "certificate signed by unknown authority", do: "--mirror-ca",
		},
		{
			name: "no disk left", check: "disk", level: doctor.Problem,
			spoil: func(_ *testing.T, p *doctor.Patient) {
				p.Machine.Free = func(string) (uint64, error) { return 1 << 30, nil }
			},
			found: "1.0 GiB free", do: "--image-dir",
		},
		{
			name: "little disk left", check: "disk", level: doctor.Warning,
			spoil: func(_ *testing.T, p *doctor.Patient) {
				p.Machine.Free = func(string) (uint64, error) { return 5 << 30, nil }
			},
			found: "5.0 GiB free", do: "make room",
		},
		{
			name: "a file as data folder", args: []string{"--data-dir", mirrors}, check: "settings", level: doctor.Problem,
			found: "not a directory", do: "slipway config show",
		},
		{
			name: "a clock that runs by itself", check: "clock", level: doctor.Warning,
			spoil: func(_ *testing.T, p *doctor.Patient) { p.Machine.Clock = func() (bool, error) { return false, nil } },
			found: "not synchronised", do: "chronyd",
		},
		{
			name: "few descriptors", args: []string{"--max-connections", "20000"}, check: "open files", level: doctor.Warning,
			spoil: func(_ *testing.T, p *doctor.Patient) {
				p.Machine.Descriptors = func(int) (uint64, error) { return 1024, nil }
			},
			found: "the limit of this shell is 1024, and --max-connections 20000 needs 20500", do: "LimitNOFILE",
		},
		{
			name: "no programs for hosts", args: []string{"--agent-binaries", "/nowhere"}, check: "programs", level: doctor.Problem,
			found: "no programs for hosts and new clusters in /nowhere", do: "--agent-binaries",
		},
		{
			name: "an update service out of reach", args: []string{
				"--update-service", "http://" + closed, "--release-sources",
				`[{"openshift_version":"4.20","multi_cpu_architectures":["x86_64"],
					"upgrade_channels":[{"cpu_architecture":"x86_64","channels":["stable"]}]}]`,
			},
			check: "update service", level: doctor.Warning, found: "connection refused", do: "RELEASE_SOURCES='[]'",
		},
		{
			name: "a live image out of reach", args: []string{
				"--os-images",
				`[{"openshift_version":"4.20","cpu_architecture":"x86_64","url":"http://` + closed + `/live.iso","version":"9.6"}]`,
			},
			check: "live images", level: doctor.Problem, found: "the image of OpenShift 4.20 cannot be downloaded", do: "slipway images add",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := insecure(patient(t, test.args...))
			if test.spoil != nil {
				test.spoil(t, &p)
			}
			var out bytes.Buffer
			found := doctor.Examine(t.Context(), p)
			require.NoError(t, doctor.Print(&out, found))
			named := false
			for _, f := range found {
				if f.Check != test.check || f.Level != test.level || !strings.Contains(f.Found, test.found) {
					continue
				}
				named = true
				require.Contains(t, f.Do, test.do)
			}
			require.True(t, named, "%s: found\n%s", test.name, &out)
			require.GreaterOrEqual(t, doctor.Worst(found), test.level)
		})
	}
}

// used makes a data folder that a service was used with, of a PostgreSQL that no machine has.
func used(t *testing.T, p *doctor.Patient, files ...string) {
	t.Helper()
	for _, name := range append(files, "postgres/PG_VERSION") {
		path := filepath.Join(p.Settings.DataDir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte("9\n"), 0o600))
	}
}

func TestDoctorReadsWhatARunningServiceSays(t *testing.T) {
	t.Parallel()
	state, code := `{"status":"ready","database":"ok"}`, http.StatusOK
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, "/ready", r.URL.Path)
		w.WriteHeader(code)
		_, _ = io.WriteString(w, state)
	}))
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "https://")
	p := insecure(patient(t, "--listen", address, "--max-connections", "20000"))
	p.Ports = func(int) error { return errors.New("its own ports are no fault") }
	p.Machine.Descriptors = func(pid int) (uint64, error) {
		return map[int]uint64{4711: 65536, os.Getpid(): 1024}[pid], nil
	}
	require.NoError(t, os.MkdirAll(p.Settings.DataDir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(p.Settings.DataDir, "slipway.lock"), []byte(strconv.Itoa(4711)+"\n"), 0o600))
	found := doctor.Examine(t.Context(), p)
	require.Equal(t, doctor.OK, doctor.Worst(found), "%+v", found)
	require.Contains(t, found, doctor.Finding{Check: "service", Found: "runs at " + address})

	state, code = `{"status":"not ready","database":"ok","temporal":"no answer","keys":"no answer"}`, http.StatusServiceUnavailable
	found = doctor.Examine(t.Context(), p)
	require.Contains(t, found, doctor.Finding{
		Check: "service", Level: doctor.Problem, Found: "runs at " + address + ", and is not ready keys: no answer, temporal: no answer",
		Do: "its log names the cause: journalctl -u slipway",
	})

	require.Equal(t, []doctor.Finding{{
		Check: "service", Level: doctor.Problem, Found: "runs at " + address + ", and is not ready keys: no answer, temporal: no answer",
		Do: "its log names the cause: journalctl -u slipway",
	}}, doctor.Ready(t.Context(), p))
	state, code = `{"status":"ready","database":"ok"}`, http.StatusOK
	require.Equal(t, []doctor.Finding{{Check: "service", Found: "runs at " + address}}, doctor.Ready(t.Context(), p))
	server.Close()
	require.Equal(t, []doctor.Finding{{
		Check: "service", Level: doctor.Problem, Found: "does not answer at " + address, Do: "its log names the cause",
	}}, doctor.Ready(t.Context(), p), "a service that does not run")
}

func TestFindingsAreReadByProgramsAndPeople(t *testing.T) {
	t.Parallel()
	found := []doctor.Finding{{Check: "clock", Found: "synchronised"}, {"disk", doctor.Problem, "1.0 GiB free", "make room"}}
	var out bytes.Buffer
	require.NoError(t, doctor.Print(&out, found))
	require.Equal(t, "ok       clock           synchronised\nproblem  disk            1.0 GiB free\n"+
		"                         -> make room\n", out.String())
	out.Reset()
	require.NoError(t, doctor.PrintJSON(&out, found))
	require.JSONEq(t, `[{"check":"clock","level":"ok","found":"synchronised"},
		{"check":"disk","level":"problem","found":"1.0 GiB free","do":"make room"}]`, out.String())
	require.Equal(t, "found 1 problems and 0 warnings", doctor.Count(found))
}
