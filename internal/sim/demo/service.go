package demo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"slipway/internal/client"
	"slipway/internal/client/contexts"
	"slipway/internal/model"
	"slipway/internal/sim/process"
)

// service is the child process that is the real service.
type service struct {
	url, temporal string
	client        *client.Client // as the administrator
	http          *http.Client   // trusts the service
	token         model.Secret   // of the administrator
	process       *process.Process
}

const (
	// startLimit is how long the service may take to be ready, its first start included.
	startLimit = 10 * time.Minute
	// stopLimit is how long it may drain; it promises 10 s.
	stopLimit = 15 * time.Second
)

// ready is the line the service prints when it is.
var ready = regexp.MustCompile(`is ready after [^:]+: API ([^,\s]+)(?:, Temporal UI ([^,\s]+))?`)

// startService starts the service on free ports, with variables for it, and waits until it is ready.
func startService(ctx context.Context, d *demo, variables []string) (*service, error) {
	agents, err := agentFolder(d)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	command := exec.Command(d.program, "up", "--data-dir", filepath.Join(d.dir, "service"), "--listen", d.Listen,
		"--temporal-port", "0", "--insecure-registry", strings.Join(d.releases.addresses(), ","), "--agent-binaries", agents,
		// The stand-in is this program, which can lie where no other user reaches it.
		"--installer-user", "0", "--installer-paths", self)
	command.Env = append(command.Environ(), "RELEASE_IMAGES="+d.releases.list, "PUBLIC_CONTAINER_REGISTRIES="+d.releases.public())
	command.Env = append(append(command.Env, existingUser(command.Env)...), variables...)
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start the service: %w", err)
	}
	log := filepath.Join(d.dir, "service.log")
	s := &service{}
	if s.process, err = process.Start(command, log); err != nil {
		return nil, fmt.Errorf("start the service: %w", err)
	}
	if err := s.waitReady(ctx, stdout); err != nil {
		s.stop()
		return nil, fmt.Errorf("start the service: %w%s", err, lastLines(log))
	}
	if err := s.signIn(filepath.Join(d.dir, "service")); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// existingUser has PostgreSQL run as Debian's user for it, unless the environment names another one: a demo creates no user of the
// machine. Where there is none, the service creates its own.
func existingUser(environment []string) []string {
	const name = "SLIPWAY_POSTGRES_USER="
	named := slices.ContainsFunc(environment, func(variable string) bool { return strings.HasPrefix(variable, name) })
	if _, err := user.Lookup("postgres"); named || err != nil {
		return nil
	}
	return []string{name + "postgres"}
}

// signIn makes a client with the file that the service keeps for the command line of its machine.
func (s *service) signIn(dataDir string) error {
	file, err := contexts.Read(filepath.Join(dataDir, contexts.AdminFile))
	if err != nil {
		return err
	}
	admin, found := file.ByName("")
	if !found {
		return fmt.Errorf("no context in %s of %s", contexts.AdminFile, dataDir)
	}
	carrier, err := client.TransportPEM(admin.Authority, false)
	if err != nil {
		return fmt.Errorf("trust the service: %w", err)
	}
	s.http, s.token = carrier, admin.Secret()
	s.client = client.New(client.Options{BaseURL: admin.Server, UserToken: s.token, HTTPClient: carrier, UserAgent: "slipway-demo"})
	return nil
}

// waitReady reads what the service prints until it is ready, and continues to read.
func (s *service) waitReady(ctx context.Context, stdout io.Reader) error {
	found := make(chan struct{})
	go func() {
		lines := bufio.NewScanner(stdout)
		for lines.Scan() {
			if m := ready.FindStringSubmatch(lines.Text()); m != nil && s.url == "" {
				s.url, s.temporal = m[1], m[2]
				close(found)
			}
		}
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf("not ready after %s", startLimit))
	defer cancel()
	select {
	case <-found:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.process.Ended().Done():
		return context.Cause(s.process.Ended())
	}
}

// stop ends the service in order, or by force when that takes too long.
func (s *service) stop() { s.process.Stop(stopLimit) }

// lastLines returns the end of a log, for people.
func lastLines(path string) string {
	content, err := os.ReadFile(path)
	if err != nil || len(content) == 0 {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	return "\n  " + strings.Join(lines[max(0, len(lines)-10):], "\n  ")
}

// agentFolder makes the folder where the service finds the programs of hosts and new clusters. The machines of the demo do not
// start them, they run the same code in this process, and the programs are only checked by their hashes: where one
// was not built, another stands in.
func agentFolder(d *demo) (string, error) {
	beside := filepath.Dir(d.self)
	standIn := filepath.Join(beside, "slipway-agent-"+runtime.GOARCH)
	if _, err := os.Stat(standIn); err != nil {
		standIn = d.self
	}
	folder := filepath.Join(d.dir, "agents")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", fmt.Errorf("offer the agent: %w", err)
	}
	for _, program := range []string{"slipway-agent-", "slipway-controller-"} {
		for _, architecture := range []string{"amd64", "arm64", "ppc64le", "s390x"} {
			name := program + architecture
			target := filepath.Join(beside, name)
			if _, err := os.Stat(target); err != nil {
				target = standIn
			}
			if err := os.Symlink(target, filepath.Join(folder, name)); err != nil && !errors.Is(err, fs.ErrExist) {
				return "", fmt.Errorf("offer the agent: %w", err)
			}
		}
	}
	return folder, nil
}
