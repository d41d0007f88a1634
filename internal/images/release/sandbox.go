package release

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"slipway/internal/model"
	"slipway/internal/platform/sandbox"
)

// Sandbox says whether installers, which are programs of whoever names a release image, run in a sandbox.
type Sandbox string

// The ways to run installers.
const (
	SandboxOff        Sandbox = ""            // as Options.User, in some namespaces
	SandboxBestEffort Sandbox = "best-effort" // in a sandbox where the machine makes one
	SandboxRequired   Sandbox = "required"    // in a sandbox, or not at all
)

// ParseSandbox reads off, best-effort or required.
func ParseSandbox(text string) (Sandbox, error) {
	switch s := Sandbox(text); s {
	case "off":
		return SandboxOff, nil
	case SandboxBestEffort, SandboxRequired:
		return s, nil
	}
	return SandboxOff, model.Invalidf("require off, best-effort or required, found %q", text)
}

// limits of an installer: far more than one needs, and little enough to leave the service alone.
var limits = sandbox.Limits{Data: 4 << 30, File: 1 << 30, Files: 4096, Processes: 1024}

// box returns the sandbox of a run; nil for none. Its parts lie in the folder of the run.
func (g *generation) box(network bool) *sandbox.Box {
	opts := g.installer.releases.opts
	if opts.Sandbox == SandboxOff {
		return nil
	}
	b := g.user.box(g.dir)
	b.Readable, b.Network = append([]string{g.installer.program.path}, opts.Readable...), network
	for _, name := range []string{"assets", "home", "tmp"} {
		b.Writable = append(b.Writable, filepath.Join(g.dir, name))
	}
	return &b
}

func (u *User) box(dir string) sandbox.Box {
	b := sandbox.Box{Root: filepath.Join(dir, "root"), UID: os.Geteuid(), GID: os.Getegid(), Limits: limits}
	if u != nil {
		b.UID, b.GID = int(u.UID), int(u.GID)
	}
	return b
}

// CheckSandbox returns an error when installers are to run in a sandbox, and this machine makes none.
func (r *Releases) CheckSandbox(ctx context.Context) error {
	if r.opts.Sandbox == SandboxOff {
		return nil
	}
	user, giveBack, err := r.user(ctx)
	if err != nil {
		return err
	}
	defer giveBack()
	dir, err := os.MkdirTemp(r.work, "check-")
	if err != nil {
		return fmt.Errorf("make folder for a sandbox: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	root := filepath.Join(dir, "root")
	if err := errors.Join(os.Mkdir(root, privateFolder), user.give(root), user.give(dir)); err != nil {
		return fmt.Errorf("make folder for a sandbox: %w", err)
	}
	return sandbox.Check(user.box(dir))
}
