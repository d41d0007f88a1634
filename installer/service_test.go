package installer_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/installer"
	"slipway/internal/client"
	"slipway/internal/platform/hostexec"
	"slipway/internal/testing/hostexectest"
	"slipway/internal/wire"
)

var (
	clusterID = uuid.MustParse("11111111-1111-4111-8111-111111111111")
	envID     = uuid.MustParse("22222222-2222-4222-8222-222222222222")
	hostID    = uuid.MustParse("33333333-3333-4333-8333-333333333333")
)

const token = "the-pull-secret-token"

// service speaks the part of the contract an installer needs and records what it receives.
type service struct {
	*httptest.Server
	mu       sync.Mutex
	files    map[string]string // by the end of the path, or the file name asked for
	hosts    []wire.Host
	cluster  wire.Cluster
	broken   bool // answers 500 to every report of progress
	wholes   int  // how often it reports inventories
	stages   []string
	progress []string    // "<host>: <stage> <info>" of other hosts
	heard    chan string // gets them too, when set
	logs     []string
	archive  []byte
	refused  string // the request about logs that is refused once: "upload" or a state
}

func newService(t *testing.T) *service {
	t.Helper()
	s := &service{files: map[string]string{}, cluster: wire.Cluster{Kind: "Cluster"}}
	api := "/api/assisted-install/v2"
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+api+"/infra-env/{env}/hosts/{host}/downloads/ignition", s.serveFile("ignition"))
	mux.HandleFunc("GET "+api+"/clusters/{cluster}/downloads/files", func(w http.ResponseWriter, r *http.Request) {
		s.serveFile(r.URL.Query().Get("file_name"))(w, r)
	})
	mux.HandleFunc("PUT "+api+"/infra-envs/{env}/hosts/{host}/progress", s.takeProgress)
	mux.HandleFunc("PUT "+api+"/infra-envs/{env}/hosts/{host}/logs-progress", s.takeLogsProgress)
	mux.HandleFunc("POST "+api+"/clusters/{cluster}/logs", s.takeLogs)
	mux.HandleFunc("GET "+api+"/clusters/{cluster}", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(s.cluster)
	})
	mux.HandleFunc("GET "+api+"/clusters/{cluster}/hosts", s.listHosts)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func (s *service) serveFile(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		content, known := s.files[name]
		s.mu.Unlock()
		if !known {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = io.WriteString(w, content)
	}
}

func (s *service) takeProgress(w http.ResponseWriter, r *http.Request) {
	var progress wire.HostProgress
	_ = json.NewDecoder(r.Body).Decode(&progress)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	line := strings.TrimSpace(string(*progress.CurrentStage) + " " + *progress.ProgressInfo)
	if r.PathValue("host") == hostID.String() {
		s.stages = append(s.stages, line)
		return
	}
	line = r.PathValue("host") + ": " + line
	s.progress = append(s.progress, line)
	if s.heard != nil {
		s.heard <- line
	}
}

func (s *service) takeLogsProgress(w http.ResponseWriter, r *http.Request) {
	var params wire.LogsProgressParams
	_ = json.NewDecoder(r.Body).Decode(&params)
	if s.refuses(w, string(params.LogsState)) {
		return
	}
	s.mu.Lock()
	s.logs = append(s.logs, string(params.LogsState))
	s.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

func (s *service) refuses(w http.ResponseWriter, request string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refused != request {
		return false
	}
	s.refused = ""
	w.WriteHeader(http.StatusServiceUnavailable)
	return true
}

func (s *service) takeLogs(w http.ResponseWriter, r *http.Request) {
	file, _, err := r.FormFile("upfile")
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	content, _ := io.ReadAll(file)
	if s.refuses(w, "upload") {
		return
	}
	s.mu.Lock()
	s.archive = content
	s.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

func (s *service) listHosts(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	listed := []wire.Host{}
	if r.URL.Query().Get("with-inventory") == "true" {
		s.wholes++
	}
	for _, h := range s.hosts {
		if role := r.URL.Query().Get("role"); role == "" || role == string(h.Role) {
			if r.URL.Query().Get("with-inventory") != "true" {
				h.Inventory = ""
			}
			listed = append(listed, h)
		}
	}
	_ = json.NewEncoder(w).Encode(listed)
}

func (s *service) reports() (stages, others []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.stages...), append([]string{}, s.progress...)
}

// host is a machine in the live image, its commands and its files.
type host struct {
	*hostexectest.Host
	root hostexec.Root
}

func newHost(t *testing.T, commands map[string]hostexectest.Answer) *host {
	t.Helper()
	h := &host{hostexectest.New(commands), hostexec.Root(t.TempDir())}
	h.write(t, "/dev/sda", "")
	h.write(t, "/proc/sys/kernel/hostname", "master-0\n")
	h.write(t, "/etc/passwd", "root:x:0:0::/root:/bin/bash\ncore:x:1000:1000::/home/core:/bin/bash\n")
	return h
}

func (h *host) write(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(h.root.Path(path)), 0o755))
	require.NoError(t, os.WriteFile(h.root.Path(path), []byte(content), 0o644))
}

func (h *host) read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(h.root.Path(path))
	require.NoError(t, err)
	return string(content)
}

// kube is a control plane whose state a test sets.
type kube struct {
	mu     sync.Mutex
	nodes  []installer.Node
	events map[string]bool
	// unrendered are the machine configs that the cluster does not have.
	unrendered map[string]bool
	readErr    error // of reading machine configs
	err        error
	// initialized are the nodes whose mark was taken off.
	initialized []string
	held        chan struct{} // when set, the API does not answer before it is closed
	calls       atomic.Int32  // those it has not answered
}

func newInstaller(s *service, h *host, k installer.Kube, changes ...func(*installer.Options)) *installer.Installer {
	options := installer.Options{
		Root: h.root, Runner: h.Host, Client: client.New(client.Options{BaseURL: s.URL, Token: token}),
		Kube: func([]byte) (installer.Kube, error) { return k, nil },
		Log:  slog.New(slog.DiscardHandler),
	}
	for _, change := range changes {
		change(&options)
	}
	return installer.New(options)
}

func request(role wire.HostRole, controlPlane int) *wire.InstallCmdRequest {
	return &wire.InstallCmdRequest{
		ClusterID: clusterID, InfraEnvID: envID, HostID: hostID, Role: role, ControlPlaneCount: controlPlane,
		BootDevice: "/dev/sda", ControllerImage: "registry/controller:1", OpenshiftVersion: "4.20.1",
	}
}

func bootstrap(controlPlane int) *wire.BootstrapRequest {
	return &wire.BootstrapRequest{InstallCmdRequest: *request("bootstrap", controlPlane)}
}
