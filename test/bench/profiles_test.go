package bench_test

import (
	"context"
	"flag"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

var profilesIn = flag.String("profiles", "", "folder for profiles of the service: heap, goroutines and processor time")

// profiled returns the arguments of a service whose profiles are saved, where they are wanted.
func profiled(b *testing.B) (arguments []string, save func()) {
	if *profilesIn == "" {
		return nil, func() {}
	}
	require.NoError(b, os.MkdirAll(*profilesIn, 0o755)) // now, not after an hour
	socket := filepath.Join(b.TempDir(), "profiles.sock")
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
	return []string{"--profile-socket", socket}, func() {
		for name, page := range map[string]string{
			"cpu": "profile?seconds=20", "goroutine": "goroutine", "heap": "heap?gc=1", "memory": "heap?debug=1",
		} {
			r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, "http://localhost/debug/pprof/"+page, http.NoBody)
			require.NoError(b, err)
			answer, err := client.Do(r)
			require.NoError(b, err)
			out, err := os.Create(filepath.Join(*profilesIn, name))
			require.NoError(b, err)
			_, err = io.Copy(out, answer.Body)
			require.NoError(b, err)
			require.NoError(b, out.Close())
			require.NoError(b, answer.Body.Close())
		}
		client.CloseIdleConnections()
	}
}
