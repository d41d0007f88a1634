package agent_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/agent"
	"slipway/internal/platform/hostexec"
	"slipway/internal/wire"
)

// bootPartition is a boot partition of a size, of which an older operating system takes a part.
type bootPartition struct {
	size, system int64
	cleanups     int
	busy         int // how often rpm-ostree refuses first
	folder       string
}

// free returns the size without the files and the older system.
func (b *bootPartition) free(string) (int64, error) {
	left := b.size - b.system
	err := filepath.Walk(b.folder, func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() && filepath.Ext(info.Name()) != ".conf" {
			left -= info.Size()
		}
		return err
	})
	return left, err
}

func TestReclaimIsRepeatedOnASmallBootPartition(t *testing.T) {
	t.Parallel()
	const first, second = "k111 i1111111111111111111", "k222 i2222222222222222222" // 4 and 20 bytes
	for name, c := range map[string]struct {
		boot     bootPartition
		images   [2]string
		want     string // the content at the end
		says     string // of the second request
		cleanups int
	}{
		"the same image has nothing to do":         {bootPartition{size: 30}, [2]string{first, first}, first, "", 0},
		"another one takes the place of the first": {bootPartition{size: 30}, [2]string{first, second}, second, "", 0},
		"both fit": {bootPartition{size: 60}, [2]string{first, second}, second, "", 0},
		"a larger one needs the room of an old system": {
			bootPartition{size: 40, system: 14}, [2]string{first, second + "222222"}, second + "222222", "", 1,
		},
		"a larger one waits for a daemon that is busy": {
			bootPartition{size: 40, system: 14, busy: 4}, [2]string{first, second + "222222"}, second + "222222", "", 5,
		},
		"a larger one does not wait without a limit": {
			bootPartition{size: 40, system: 14, busy: 9}, [2]string{first, second + "222222"}, first, "Transaction in progress", 5,
		},
		"a larger one does not fit": {
			bootPartition{size: 30},
			[2]string{first, second + strings.Repeat("2", 3<<20)},
			first,
			"require 3.0 MiB free in /boot for the discovery image, found 0.0 MiB", 1,
		},
		"one that cannot be fetched leaves the first": {bootPartition{size: 60}, [2]string{first, ""}, first, "found 404", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var image string
			images := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				kernel, initrd, found := strings.Cut(image, " ")
				if !found {
					http.NotFound(w, r)
					return
				}
				fmt.Fprint(w, map[string]string{"/kernel": kernel, "/initrd": initrd}[r.URL.Path])
			}))
			t.Cleanup(images.Close)
			s, h := newService(t), newHost(t)
			c.boot.folder = h.root.Path("/boot")
			h.On("rpm-ostree", func(context.Context, hostexec.Cmd) (hostexec.Result, error) {
				if c.boot.cleanups++; c.boot.cleanups <= c.boot.busy {
					return hostexec.Result{}, &hostexec.ExitError{Cmd: "rpm-ostree", Code: 1, Stderr: "error: Transaction in progress: upgrade"}
				}
				c.boot.system = 0
				return hostexec.Result{}, nil
			})
			s.Change(func() { s.Registered = true })
			h.start(t, s, func(o *agent.Options) { o.Reclaim, o.Platform.Free = true, c.boot.free })
			image = c.images[0]
			s.Give("download-1", wire.StepTypeDownloadBootArtifacts, artifacts(images.URL))
			reply := s.AwaitReply(t, "download-1")
			require.Zero(t, reply.ExitCode, reply.Error)
			// A try that was killed left these.
			require.NoError(t, os.WriteFile(h.root.Path("/boot/discovery/initrd.part"), []byte("half of an image"), 0o600))
			require.NoError(t, os.MkdirAll(h.root.Path("/var/tmp/slipway-discovery"), 0o755))
			require.NoError(t, os.WriteFile(h.root.Path("/var/tmp/slipway-discovery/initrd"), []byte("half"), 0o600))

			image = c.images[1]
			s.Give("download-2", wire.StepTypeDownloadBootArtifacts, artifacts(images.URL))
			reply = s.AwaitReply(t, "download-2")
			require.Equal(t, c.says == "", reply.ExitCode == 0, reply.Error)
			require.Contains(t, reply.Error, c.says)
			require.Equal(t, c.cleanups, c.boot.cleanups)
			kernel, err := os.ReadFile(h.root.Path("/boot/discovery/vmlinuz"))
			require.NoError(t, err)
			initrd, err := os.ReadFile(h.root.Path("/boot/discovery/initrd"))
			require.NoError(t, err)
			require.Equal(t, c.want, string(kernel)+" "+string(initrd), "the host can start a whole image")
			entry, err := os.ReadFile(h.root.Path(bootEntry))
			require.NoError(t, err)
			require.Contains(t, string(entry), "linux /discovery/vmlinuz")
			require.NoFileExists(t, h.root.Path("/boot/discovery/initrd.part"))
			require.NoDirExists(t, h.root.Path("/var/tmp/slipway-discovery"))
		})
	}
}
