package images_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/test/built"
)

// deployment is shared by the processes of a test.
type deployment struct {
	program string
	dir     string
	env     []string
	url     string // of the service that has the API
}

// newDeployment makes the folder of a test.
func newDeployment(t *testing.T) *deployment {
	t.Helper()
	return &deployment{program: built.Binary(t), dir: built.Folder(t, "images")}
}

// process is a part of the service.
type process struct {
	*exec.Cmd
	ended chan struct{}
}

// start runs a part of the service until it is killed, or the test ends.
func (d *deployment) start(t *testing.T, name, address string, args ...string) *process {
	t.Helper()
	log, err := os.OpenFile(filepath.Join(d.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	p := &process{Cmd: exec.Command(d.program, append(args, "--listen", address)...), ended: make(chan struct{})}
	p.Env = append(os.Environ(), d.env...)
	p.Stdout, p.Stderr = log, log
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, p.Start())
	go func() {
		_ = p.Wait()
		_ = log.Close()
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.Process.Signal(syscall.SIGTERM)
		select {
		case <-p.ended:
		case <-time.After(30 * time.Second):
			p.kill()
		}
	})
	return p
}

// kill ends the process as a loss of power would.
func (p *process) kill() {
	_ = p.Process.Kill()
	<-p.ended
}

// slipway types a command and returns what it prints.
func (d *deployment) slipway(t *testing.T, args ...string) string {
	t.Helper()
	out, err := d.command(args...).CombinedOutput()
	require.NoError(t, err, "slipway %s: %s", strings.Join(args, " "), out)
	return string(out)
}

func (d *deployment) command(args ...string) *exec.Cmd {
	command := exec.Command(d.program, args...)
	command.Dir = d.dir
	command.Env = append(append(os.Environ(), d.env...), "SLIPWAY_URL="+d.url)
	return command
}
