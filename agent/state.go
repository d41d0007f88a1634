package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/google/renameio/v2"
	"github.com/google/uuid"

	"slipway/internal/model"
)

const (
	bootIDFile       = "/proc/sys/kernel/random/boot_id"
	registrationFile = "registration.json"
	lockFile         = "lock"
	tokenFile        = "token"
	// lockPause is between attempts to take over from an agent that is going down.
	lockPause = time.Second
)

// registration says where this boot of the host is registered.
type registration struct {
	Service    string           `json:"service"`
	InfraEnvID uuid.UUID        `json:"infra_env_id"`
	HostID     uuid.UUID        `json:"host_id"`
	AgentSteps model.AgentSteps `json:"dialect"`
}

// stateDir is the folder with the state of one boot; one agent at a time holds it.
type stateDir struct {
	dir  string
	boot string // how this boot is named
	lock *os.File
	kept model.Secret // what tokenFile holds
}

// openState opens the folder of this boot and removes the folders of earlier boots.
func (a *Agent) openState(ctx context.Context) (*stateDir, error) {
	boot, err := a.bootID()
	if err != nil {
		return nil, err
	}
	all := a.host.Root.Path(a.options.StateDir)
	dir := filepath.Join(all, boot)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the agent's state folder: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the agent's lock: %w", err)
	}
	for {
		err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			break
		}
		a.log.Warn("another agent holds the state of this host", "dir", dir)
		if err := a.host.Sleep(ctx, lockPause); err != nil {
			_ = lock.Close()
			return nil, err
		}
	}
	dropOthers(all, boot)
	return &stateDir{dir: dir, boot: boot, lock: lock}, nil
}

// bootID names this boot; it becomes a folder.
func (a *Agent) bootID() (string, error) {
	if a.host.BootID != nil {
		return a.host.BootID()
	}
	content, err := os.ReadFile(a.host.Root.Path(bootIDFile))
	if err != nil {
		return "", fmt.Errorf("read the id of this boot: %w", err)
	}
	boot := strings.TrimSpace(string(content))
	if boot == "" || boot != filepath.Base(boot) {
		return "", fmt.Errorf("require an id of this boot in %s, found %q", bootIDFile, boot)
	}
	return boot, nil
}

func dropOthers(all, boot string) {
	entries, err := os.ReadDir(all)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.Name() != boot {
			_ = os.RemoveAll(filepath.Join(all, e.Name())) // what stays is only not tidy
		}
	}
}

// registered reports whether this boot is registered there.
func (s *stateDir) registered(there registration) bool {
	content, err := os.ReadFile(filepath.Join(s.dir, registrationFile))
	if err != nil {
		return false
	}
	var r registration
	return json.Unmarshal(content, &r) == nil && r == there
}

func (s *stateDir) remember(r registration) error {
	content, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write the registration: %w", err)
	}
	if err := renameio.WriteFile(filepath.Join(s.dir, registrationFile), content, 0o600); err != nil {
		return fmt.Errorf("write the registration: %w", err)
	}
	return nil
}

func (s *stateDir) forget() error {
	err := os.Remove(filepath.Join(s.dir, registrationFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// token returns the token that keepToken stored; empty: none.
func (s *stateDir) token() model.Secret {
	content, err := os.ReadFile(filepath.Join(s.dir, tokenFile))
	if err != nil {
		return ""
	}
	s.kept = model.Secret(content)
	return s.kept
}

func (s *stateDir) keepToken(token model.Secret) error {
	if err := renameio.WriteFile(filepath.Join(s.dir, tokenFile), []byte(token.Reveal()), 0o600); err != nil {
		return fmt.Errorf("write the token: %w", err)
	}
	s.kept = token
	return nil
}

// close lets another agent take over.
func (s *stateDir) close() { _ = s.lock.Close() }
