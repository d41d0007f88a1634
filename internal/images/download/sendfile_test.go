package download_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/images/download"
	"slipway/internal/images/remaster/layout"
	"slipway/internal/testing/await"
)

// serverEnv makes the test program a server of a file of that name, so that its calls of the system
// can be counted apart from the reader's.
const serverEnv = "STREAM_TEST_FILE"

func TestMain(m *testing.M) {
	if path := os.Getenv(serverEnv); path != "" {
		serveFile(path)
	}
	os.Exit(m.Run())
}

func serveFile(path string) {
	sender := download.New(download.Options{Now: time.Now})
	content := download.Content{
		Layout: layout.Of(layout.Base(0, large/2), layout.Bytes([]byte("patch")), layout.Base(large/2, large/2)), ETag: "a",
		Open: func() (*os.File, error) { return os.Open(path) },
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr())
	panic(http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := sender.Serve(w, r, content); err != nil {
			panic(http.ErrAbortHandler)
		}
	})))
}

// reads reports how many read and write calls a process made so far, sendfile included.
func calls(t *testing.T, pid int) (n int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		for _, name := range []string{"syscr: ", "syscw: "} {
			if value, ok := strings.CutPrefix(line, name); ok {
				count, err := strconv.Atoi(strings.TrimSpace(value))
				require.NoError(t, err)
				n += count
			}
		}
	}
	return n
}

func descriptors(t *testing.T, pid int) int {
	t.Helper()
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	require.NoError(t, err)
	return len(entries)
}

// TestBaseRangesGoOutBySendfile counts: copying 64 MiB by 32 KiB takes 4096 calls.
func TestBaseRangesGoOutBySendfile(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/base"
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, os.Truncate(path, large))
	server := exec.Command(os.Args[0])
	server.Env = append(os.Environ(), serverEnv+"="+path)
	out, err := server.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	address := make([]byte, 64)
	n, err := out.Read(address)
	require.NoError(t, err)
	url := "http://" + strings.TrimSpace(string(address[:n]))
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, ReadBufferSize: 1 << 20}}
	get := func() {
		response, err := client.Get(url)
		require.NoError(t, err)
		defer response.Body.Close()
		read, err := io.Copy(io.Discard, response.Body)
		require.NoError(t, err)
		require.EqualValues(t, large+len("patch"), read)
	}
	get()
	idle, before := descriptors(t, server.Process.Pid), calls(t, server.Process.Pid)
	for range 4 {
		get()
	}
	require.Less(t, calls(t, server.Process.Pid)-before, 4*1000)
	await.True(t, func() bool { return descriptors(t, server.Process.Pid) <= idle })
}
