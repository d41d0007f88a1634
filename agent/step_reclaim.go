package agent

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"syscall"
	"time"

	"github.com/google/renameio/v2"

	"slipway/internal/platform/hostexec"
	"slipway/internal/wire"
)

// Where the discovery image is stored on an installed host (docs/reference/agent-protocol.md,
// "Reclaim of a host").
const (
	bootDir        = "/boot"
	discoveryDir   = "/boot/discovery"
	discoveryEntry = "/boot/loader/entries/00-assisted-discovery.conf"
	// stagingDir is where the image is complete first, on the root file system, which has room for it.
	stagingDir = "/var/tmp/slipway-discovery"
	// A download is tried as often, with as long a pause.
	artifactTries = 5
	artifactPause = time.Minute
	// cleanupTries is how often room is made in the boot partition, with cleanupPause between two tries.
	cleanupTries = 5
	cleanupPause = 15 * time.Second
)

// downloadBootArtifacts puts the discovery image beside the installed system and makes it
// what the machine starts next. The root of the host is where this agent was configured to find it; the
// folder in the request is where containers of other implementations have it. The image is fetched to the root file system first: an
// image of an earlier request can be started until this one is whole.
func (a *Agent) downloadBootArtifacts(ctx context.Context, req *wire.DownloadBootArtifactsRequest) error {
	if _, err := a.host.Runner.Run(ctx, hostexec.Cmd{Name: "mount", Args: []string{"-o", "remount,rw", bootDir}}); err != nil &&
		!hostexec.Missing(err) {
		return fmt.Errorf("make %s writable: %w", bootDir, err)
	}
	if err := a.clearLeftovers(); err != nil {
		return err
	}
	for _, folder := range []string{discoveryDir, stagingDir} {
		if err := os.MkdirAll(a.host.Root.Path(folder), 0o755); err != nil {
			return fmt.Errorf("make %s: %w", folder, err)
		}
	}
	defer os.RemoveAll(a.host.Root.Path(stagingDir)) //nolint:errcheck // the next request removes it as well
	// The initramfs first: its address has a credential, with which the service downloads an image that it does not have.
	for _, part := range []struct{ name, url string }{{"initrd", req.InitrdURL}, {"vmlinuz", req.KernelURL}} {
		if err := a.fetchArtifact(ctx, part.url, path.Join(stagingDir, part.name)); err != nil {
			return err
		}
	}
	if err := a.placeImage(ctx); err != nil {
		return err
	}
	if err := a.writeDiscoveryEntry(req.RootfsURL); err != nil {
		return err
	}
	return a.sync(ctx)
}

// clearLeftovers removes what a request that was interrupted did not finish.
func (a *Agent) clearLeftovers() error {
	parts, _ := filepath.Glob(a.host.Root.Path(discoveryDir) + "/*.part") // the pattern is a good one
	for _, leftover := range append(parts, a.host.Root.Path(stagingDir)) {
		if err := os.RemoveAll(leftover); err != nil {
			return fmt.Errorf("remove what an earlier download left: %w", err)
		}
	}
	return nil
}

func (a *Agent) writeDiscoveryEntry(rootfsURL string) error {
	entry := "title Discovery image\nversion 999\nlinux /discovery/vmlinuz\ninitrd /discovery/initrd\n" +
		"options ignition.firstboot ignition.platform.id=metal coreos.live.rootfs_url=" + rootfsURL + "\n"
	file := a.host.Root.Path(discoveryEntry)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("make the folder of boot entries: %w", err)
	}
	if err := renameio.WriteFile(file, []byte(entry), 0o644); err != nil {
		return fmt.Errorf("write the boot entry: %w", err)
	}
	return nil
}

func (a *Agent) sync(ctx context.Context) error {
	if _, err := a.host.Runner.Run(ctx, hostexec.Cmd{Name: "sync"}); err != nil && !hostexec.Missing(err) {
		return fmt.Errorf("write the discovery image out: %w", err)
	}
	return nil
}

// fetchArtifact downloads a file, and again when the network or the server fails.
func (a *Agent) fetchArtifact(ctx context.Context, url, to string) error {
	var err error
	for try := range artifactTries {
		if err = a.download(ctx, url, a.host.Root.Path(to)); err == nil || ctx.Err() != nil {
			return err
		}
		a.log.Warn("part of the discovery image not fetched", "file", to, "try", try+1, "error", err)
		if errors.Is(err, syscall.ENOSPC) {
			return err // no pause makes room
		}
		if try+1 < artifactTries {
			if err := a.host.Sleep(ctx, artifactPause); err != nil {
				return err
			}
		}
	}
	return err
}

// download writes a file that is whole once it has its name.
func (a *Agent) download(ctx context.Context, url, to string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("fetch %s: %w", url, err)
	}
	response, err := (&http.Client{Transport: a.host.HTTP}).Do(request)
	if err != nil {
		return fmt.Errorf("fetch %s: %w", url, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("fetch %s: require status 200, found %s", url, response.Status)
	}
	return writePart(response.Body, to)
}

// acceptReclaim does the part of the step reboot-for-reclaim before its reply, reclaim the part
// after it: the service must know before the host is gone.
func (a *Agent) acceptReclaim(context.Context, *wire.RebootForReclaimRequest) error {
	if _, err := os.Stat(a.host.Root.Path(discoveryEntry)); err != nil {
		return fmt.Errorf("look for the discovery image: %w", err)
	}
	return nil
}

func (a *Agent) reclaim(ctx context.Context, _ []string) error {
	if _, err := a.host.Runner.Run(ctx, hostexec.Cmd{Name: "systemctl", Args: []string{"reboot"}}); err != nil {
		return fmt.Errorf("reboot the host: %w", err)
	}
	return nil
}
