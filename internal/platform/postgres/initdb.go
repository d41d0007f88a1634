package postgres

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

// role owns the bundled cluster; database holds all data of Slipway in it.
const (
	role     = "slipway"
	database = "slipway"
)

// childEnv is the whole environment of the PostgreSQL programs: they run as another user, who may read it, and
// PG* variables of this process would change their behaviour.
var childEnv = []string{"LC_ALL=C", "PATH=/usr/local/bin:/usr/bin:/bin"}

// initCluster creates the cluster. It appears under its name only when it is complete, so that a start that was
// killed half way is simply repeated.
func (p *Server) initCluster(ctx context.Context) error {
	unfinished := p.folder.data + ".new"
	if err := os.RemoveAll(unfinished); err != nil {
		return fmt.Errorf("remove unfinished database: %w", err)
	}
	if err := p.account.own(unfinished); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, p.binaries.path("initdb"), "--pgdata="+unfinished, "--username="+role,
		"--auth-local=peer", "--auth-host=reject", "--encoding=UTF8", "--locale=C", "--data-checksums", "--no-instructions")
	cmd.SysProcAttr, cmd.Dir, cmd.Env = p.account.attr(), unfinished, childEnv
	// A process of a killed attempt would write into the folder of the next one.
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	runtime.LockOSThread() // see run
	defer runtime.UnlockOSThread()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("create database in %s: %w: %s", p.folder.data, err, lastLine(out))
	}
	if err := os.Rename(unfinished, p.folder.data); err != nil {
		return fmt.Errorf("put database in place: %w", err)
	}
	return nil
}

// writeAccess writes the access rules: over the socket, root and the user Slipway runs as, both as the one role. No access over the
// network, and none for the user that the server runs as where that is another one.
func (p *Server) writeAccess() error {
	names := []string{"root"} // which can become any user anyway
	if u, err := user.Current(); err == nil {
		names = append(names, u.Username)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	var ident strings.Builder
	for _, name := range names {
		fmt.Fprintf(&ident, "slipway %q %s\n", name, role)
	}
	files := map[string]string{
		"pg_hba.conf":   "local all all peer map=slipway\n",
		"pg_ident.conf": ident.String(),
	}
	for name, text := range files {
		if err := p.replaceFile(name, text); err != nil {
			return fmt.Errorf("write access rules: %w", err)
		}
	}
	return nil
}

// replaceFile replaces a file of the cluster. It never writes through a name that exists: the folder belongs to the server's account,
// which could have put a link to a file of root there.
func (p *Server) replaceFile(name, text string) error {
	path := filepath.Join(p.folder.data, name)
	_ = os.Remove(path + ".new") // of a start that was killed
	file, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if p.account.switched {
		if err := file.Chown(p.account.uid, p.account.gid); err != nil {
			return err
		}
	}
	if _, err := file.WriteString(text); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
