package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"slipway/internal/testing/await"
)

// part is a process that is started again whenever it ends, until the test does.
type part struct {
	name string
	args []string
	env  []string
	log  string

	mu      sync.Mutex
	program string
	process *os.Process
	gate    sync.Mutex // held while the part must not be started again
}

// run keeps the part running; the process dies with this one.
func (p *part) run(t *testing.T, program string) {
	t.Helper()
	p.use(program)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // the death signal follows the thread
		for ctx.Err() == nil {
			p.gate.Lock()
			p.gate.Unlock() //nolint:staticcheck // waits for whoever holds the part
			if ctx.Err() != nil {
				return
			}
			if err := p.once(); err != nil {
				t.Errorf("%s: %v", p.name, err)
				return
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		p.signal(syscall.SIGTERM)
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			p.signal(syscall.SIGKILL)
			<-done
		}
	})
}

// once runs the process to its end.
func (p *part) once() error {
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	p.mu.Lock()
	cmd := exec.Command(p.program, p.args...)
	cmd.Env = append(os.Environ(), p.env...)
	p.mu.Unlock()
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return err
	}
	p.mu.Lock()
	p.process = cmd.Process
	p.mu.Unlock()
	_ = cmd.Wait()
	p.mu.Lock()
	p.process = nil
	p.mu.Unlock()
	return nil
}

// hold ends the process with a signal, waits for its end, and keeps it from being started until release is called.
func (p *part) hold(t *testing.T, s syscall.Signal) (release func()) {
	t.Helper()
	p.gate.Lock()
	release = sync.OnceFunc(p.gate.Unlock)
	t.Cleanup(release)
	await.True(t, func() bool {
		if p.signal(s) {
			s = 0 // asks whether it is there
			return false
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.process == nil
	}, p.name+" ends")
	return release
}

// use changes the program from its next start on.
func (p *part) use(program string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.program = program
}

// set changes the environment of the process from its next start on.
func (p *part) set(env ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.env = append(p.env, env...) // the last value of a name counts
}

// signal sends a signal to the process, if it runs now.
func (p *part) signal(s syscall.Signal) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.process != nil && p.process.Signal(s) == nil
}

// postmaster returns the process id of the bundled database.
func postmaster(dataDir string) (int, error) {
	data, err := os.ReadFile(filepath.Join(dataDir, "postgres", "postmaster.pid"))
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(data), "\n")
	return strconv.Atoi(first)
}

// lastLines returns the ends of all logs of a folder, for a failed test.
func lastLines(dir string) string {
	var out bytes.Buffer
	logs, _ := filepath.Glob(filepath.Join(dir, "*.log"))
	for _, path := range logs {
		data, _ := os.ReadFile(path)
		if len(data) > 1500 {
			data = data[len(data)-1500:]
		}
		fmt.Fprintf(&out, "== %s\n%s\n", filepath.Base(path), data)
	}
	return out.String()
}
