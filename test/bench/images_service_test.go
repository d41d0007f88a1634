package bench_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// imageService is `slipway images` with an API that counts what it is asked.
type imageService struct {
	tb      testing.TB
	address string // host:port
	command *exec.Cmd
	stderr  bytes.Buffer
	api     *countingAPI
}

var imagesLine = regexp.MustCompile(`images http://([0-9.:]+)`)

// newImageService starts one on live ISOs, by the OpenShift version that has them.
func newImageService(tb testing.TB, isos map[string]string) *imageService {
	tb.Helper()
	if _, err := os.Stat(*program); err != nil {
		tb.Skipf("SKIP: this benchmark needs %s (make build)", *program)
	}
	s := &imageService{tb: tb, api: &countingAPI{}}
	api := httptest.NewServer(s.api)
	tb.Cleanup(api.Close)
	var list []map[string]string
	for version, path := range isos {
		list = append(list, map[string]string{"openshift_version": version, "cpu_architecture": "x86_64", "version": "9.6", "url": path})
	}
	images, err := json.Marshal(list)
	require.NoError(tb, err)
	s.command = exec.Command(
		*program,
		"images",
		"--data-dir",
		tb.TempDir(),
		"--listen",
		"127.0.0.1:0",
		"--service-url",
		api.URL,
		"--os-images",
		string(images),
	)
	s.command.Stderr = &s.stderr
	out, err := s.command.StdoutPipe()
	require.NoError(tb, err)
	require.NoError(tb, s.command.Start())
	tb.Cleanup(func() {
		require.NoError(tb, s.command.Process.Signal(syscall.SIGTERM))
		require.NoError(tb, s.command.Wait(), "it said: %s", &s.stderr)
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(tb, err, "it said: %s", &s.stderr)
	go func() { _, _ = io.Copy(io.Discard, out) }()
	found := imagesLine.FindStringSubmatch(line)
	require.NotNil(tb, found, line)
	s.address = found[1]
	return s
}

func (s *imageService) pid() int { return s.command.Process.Pid }

// memoryMB returns the memory in use, in 10^6 bytes.
func (s *imageService) memoryMB() float64 {
	s.tb.Helper()
	return (&service{tb: s.tb, command: s.command}).residentMB()
}

// ask sends a request and requires a status.
func (s *imageService) ask(method, path string, status int, headers ...string) {
	s.tb.Helper()
	request, err := http.NewRequestWithContext(s.tb.Context(), method, "http://"+s.address+path, http.NoBody)
	require.NoError(s.tb, err)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(s.tb, err)
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	require.NoError(s.tb, err)
	require.Equal(s.tb, status, response.StatusCode, "%.500s", content)
}

// countingAPI is as much of the v2 API as images are made with. A config of every
// environment has the size of a real one.
type countingAPI struct {
	mu      sync.Mutex
	configs int // how often it made a config
	asked   int
	network []byte // what images have for their network; nil: nothing
}

func (a *countingAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked++
	switch {
	case strings.HasSuffix(r.URL.Path, "/minimal-initrd"):
		if a.network == nil {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		_, _ = w.Write(a.network)
	case strings.HasSuffix(r.URL.Path, "/downloads/files"):
		w.Header().Set("ETag", `"1"`)
		w.Header().Set("Last-Modified", "Tue, 04 Mar 2025 05:06:07 GMT")
		if r.Header.Get("If-None-Match") == `"1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		a.configs++
		fmt.Fprintf(
			w,
			`{"ignition":{"version":"3.1.0"},"storage":{"files":[{"path":"/etc/motd","contents":{"source":"data:,%s"}}]}}`,
			strings.Repeat("0123456789abcdef", 2000),
		)
	default:
		fmt.Fprint(w, `{"kernel_arguments":"[{\"operation\":\"append\",\"value\":\"console=ttyS0\"}]"}`)
	}
}

func (a *countingAPI) counted() (configs, asked int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.configs, a.asked
}

// imagePath returns the address of an image of a new InfraEnv.
func imagePath(version, file string) string {
	return "/byid/" + uuid.NewString() + "/" + version + "/x86_64/" + file
}
