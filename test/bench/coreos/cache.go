package coreos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// unused is how long an unused artifact is kept.
const unused = 30 * 24 * time.Hour

// epoch is the time of every file in the artifacts, in seconds: one that changes with
// each build would make each build another one.
const epoch = "1700000000"

// Cache keeps artifacts in a folder, which several processes may use at once.
type Cache struct {
	Dir string
	Log io.Writer // what is built, and how long it took
}

// Make returns the folder of an artifact, and builds it and what it needs first where
// they are missing. An artifact appears whole or not at all.
func (c Cache) Make(ctx context.Context, s Step) (string, error) {
	key, err := s.Key()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(c.Dir, key)
	if c.use(dir) {
		return dir, nil
	}
	environment := make([]string, 0, len(s.Needs)+len(s.Settings)+len(s.Paths))
	for name, need := range s.Needs {
		made, err := c.Make(ctx, need)
		if err != nil {
			return "", err
		}
		environment = append(environment, name+"="+made)
	}
	for name, value := range s.Settings {
		environment = append(environment, name+"="+value)
	}
	for name, path := range s.Paths {
		environment = append(environment, name+"="+path)
	}
	unlock, err := c.lock(s.Name)
	if err != nil {
		return "", err
	}
	defer unlock()
	if c.use(dir) { // another process built it meanwhile
		return dir, nil
	}
	if err := c.build(ctx, s, dir, environment); err != nil {
		return "", fmt.Errorf("build %s: %w", s.Name, err)
	}
	return dir, c.prune(s.Name)
}

// use reports whether an artifact is there, and keeps it for another while.
func (c Cache) use(dir string) bool {
	now := time.Now()
	return os.Chtimes(dir, now, now) == nil
}

// lock waits until no other process builds artifacts of a name.
func (c Cache) lock(name string) (unlock func(), err error) {
	if err := os.MkdirAll(c.Dir, 0o755); err != nil { //nolint:gosec // nothing secret in it
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(c.Dir, name+".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil { //nolint:gosec // a small number
		return nil, errors.Join(fmt.Errorf("lock %s: %w", f.Name(), err), f.Close())
	}
	return func() { f.Close() }, nil
}

// build runs the script in a folder beside, and gives that its name in the end.
func (c Cache) build(ctx context.Context, s Step, dir string, environment []string) (err error) {
	started := time.Now()
	work := dir + ".part"
	if err := os.RemoveAll(work); err != nil { // of a process that was killed
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(work))
		}
	}()
	if err := os.MkdirAll(work, 0o755); err != nil { //nolint:gosec // nothing secret in it
		return err
	}
	scripts, err := os.MkdirTemp("", "slipway-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scripts) //nolint:errcheck // a few files in the folder for temporary ones
	if err := os.CopyFS(scripts, system); err != nil {
		return err
	}
	// Packages are unpacked by a user of their own where there is no root.
	if err := os.Chmod(scripts, 0o755); err != nil { //nolint:gosec // nothing secret in it
		return err
	}
	folder := filepath.Join(scripts, "system")
	if err := runScript(ctx, filepath.Join(folder, s.Script), work, append(environment, "SYSTEM="+folder)); err != nil {
		return err
	}
	if err := os.Rename(work, dir); err != nil {
		return err
	}
	fmt.Fprintf(c.Log, "built %s in %.1f s\n", filepath.Base(dir), time.Since(started).Seconds())
	return nil
}

func runScript(ctx context.Context, file, dir string, environment []string) error {
	script := exec.CommandContext(ctx, "sh", file) //nolint:gosec // the scripts are this package's own
	script.Dir = dir
	script.Env = append(os.Environ(), "SOURCE_DATE_EPOCH="+epoch, "LC_ALL=C", "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin")
	script.Env = append(script.Env, environment...)
	// With the script its children end too.
	script.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	script.Cancel = func() error { return syscall.Kill(-script.Process.Pid, syscall.SIGTERM) }
	script.WaitDelay = 20 * time.Second
	if out, err := script.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, tail(out))
	}
	return nil
}

// prune removes artifacts of a name that were not used for long.
func (c Cache) prune(name string) error {
	found, err := filepath.Glob(filepath.Join(c.Dir, name+"-*"))
	if err != nil {
		return err
	}
	for _, dir := range found {
		info, err := os.Stat(dir)
		if err != nil || time.Since(info.ModTime()) < unused {
			continue
		}
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

// tail returns the end of a script's output.
func tail(out []byte) string {
	const room = 4000
	if len(out) > room {
		out = out[len(out)-room:]
	}
	return strings.TrimSpace(string(out))
}
