package installer

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"slipway/internal/wire"
)

const (
	// attemptMark names the attempt whose bootstrap this host has begun. It lies with what the bootstrap leaves, and goes
	// with that when the host is booted from its live image.
	attemptMark = installDir + "/bootstrap-attempt"
	// bootstrapFiles is made by bootstrap.ign alone.
	bootstrapFiles = "/opt/openshift"
)

// bootAgain says what a user has to do about a host that holds the remains of another installation.
const bootAgain = "boot this host from its discovery image again, and then continue: " +
	"what an earlier installation started and wrote runs and lies there until then"

// beginAttempt marks the host as one whose bootstrap has begun. It refuses one that was marked for another attempt, and
// one that an unmarked bootstrap was applied to: its control plane would be taken for the new one's. Doing it again for
// the same attempt is safe.
func (i *Installer) beginAttempt(req *wire.BootstrapRequest, config []byte) error {
	want := attemptOf(req, config)
	found, err := i.begunAttempt()
	switch {
	case err != nil:
		return err
	case found == want:
		return nil
	case found != "":
		return fmt.Errorf("the host has begun another bootstrap since it was booted, %s; %s",
			found, bootAgain)
	}
	left, err := os.ReadDir(i.Root.Path(bootstrapFiles))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look for an earlier bootstrap: %w", err)
	}
	if len(left) > 0 {
		return fmt.Errorf("the host has begun another bootstrap since it was booted: %s/%s exists; %s",
			bootstrapFiles, left[0].Name(), bootAgain)
	}
	return i.writeFile(attemptMark, []byte(want+"\n"), 0o600)
}

// checkAttempt refuses a host whose bootstrap was begun for another cluster: it would wait for the other cluster.
func (i *Installer) checkAttempt(req *wire.InstallCmdRequest) error {
	found, err := i.begunAttempt()
	if err != nil {
		return err
	}
	if found != "" && !strings.HasPrefix(found, clusterOf(req)) {
		return fmt.Errorf("require the bootstrap of %s, found %s; %s", strings.TrimSuffix(clusterOf(req), ","), found, bootAgain)
	}
	return nil
}

// begunAttempt returns the attempt whose bootstrap this host has begun; empty for none.
func (i *Installer) begunAttempt() (string, error) {
	content, err := os.ReadFile(i.Root.Path(attemptMark))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read which bootstrap was begun: %w", err)
	}
	return strings.TrimSpace(string(content)), nil
}

// attemptOf names an attempt. Services of other implementations do not number them; each generates a bootstrap config with keys of its
// own.
func attemptOf(req *wire.BootstrapRequest, config []byte) string {
	if req.Attempt > 0 {
		return fmt.Sprintf("%s installation %d", clusterOf(&req.InstallCmdRequest), req.Attempt)
	}
	return fmt.Sprintf("%s %s with the hash %x", clusterOf(&req.InstallCmdRequest), bootstrapIgnition, sha256.Sum256(config))
}

func clusterOf(req *wire.InstallCmdRequest) string { return "cluster " + req.ClusterID.String() + "," }
