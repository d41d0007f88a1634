package standin

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/google/uuid"
)

const stateFile = ".openshift_install_state.json"

// state is left by one command to the next.
type state struct {
	Config    *config      `json:"config"`
	Release   string       `json:"release"`
	Invoker   string       `json:"invoker"`
	Version   string       `json:"version"`
	Minor     int          `json:"minor"`
	ClusterID string       `json:"cluster_id"`
	InfraID   string       `json:"infra_id"`
	Password  string       `json:"password"`
	PKI       *authorities `json:"pki"`
	// NodeIP of the run; not kept between runs.
	NodeIP string `json:"-"`
}

// domain returns the domain with the names of the cluster.
func (s *state) domain() string { return s.Config.Metadata.Name + "." + s.Config.BaseDomain }

// begin consumes the install-config and makes what all later files depend on.
func (r *run) begin() (*state, error) {
	c, err := r.readConfig()
	if err != nil {
		return nil, err
	}
	r.log.Info("Consuming Install Config from target directory")
	s := &state{Config: c, Release: r.release, Invoker: r.invoker, Version: r.version, Minor: r.minor, ClusterID: uuid.NewString()}
	s.InfraID = infraID(c.Metadata.Name)
	s.Password = password()
	if s.PKI, err = newAuthorities(s.domain(), r.now); err != nil {
		return nil, err
	}
	if err := os.Remove(filepath.Join(r.dir, installConfigFile)); err != nil {
		return nil, fmt.Errorf("consume install-config: %w", err)
	}
	return s, nil
}

// infraID names the objects of the cluster: its name, cut, and a random part.
func infraID(name string) string {
	const longest = 21
	name = regexp.MustCompile("[^A-Za-z0-9-]").ReplaceAllString(name[:min(len(name), longest)], "-")
	return strings.TrimRight(name, "-") + "-" + letters(5, "abcdefghijklmnopqrstuvwxyz0123456789")
}

// resume continues from the last command in the folder, or begins. An install-config that was put there since
// counts, and discards the manifests.
func (r *run) resume() (*state, error) {
	if _, err := os.Stat(filepath.Join(r.dir, installConfigFile)); err == nil {
		for _, folder := range folders {
			if _, err := os.Stat(filepath.Join(r.dir, folder)); err == nil {
				r.log.Warn("Discarding the " + folder + " that was provided in the target directory " +
					"because its dependencies are dirty and it needs to be regenerated")
			}
			if err := os.RemoveAll(filepath.Join(r.dir, folder)); err != nil {
				return nil, fmt.Errorf("discard %s: %w", folder, err)
			}
		}
		return r.begin()
	}
	data, err := os.ReadFile(filepath.Join(r.dir, stateFile))
	if errors.Is(err, fs.ErrNotExist) {
		return r.begin()
	}
	if err != nil {
		return nil, fmt.Errorf("load state: %w", err)
	}
	var s state
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("load state: %w", err)
	}
	return &s, nil
}

func (r *run) save(s *state) error {
	data, err := json.MarshalIndent(s, "", "    ")
	if err != nil {
		return fmt.Errorf("save state: %w", err)
	}
	return r.write(files{stateFile: data})
}

// password makes four groups of five letters and digits, without characters that look alike.
func password() string {
	groups := make([]string, 4)
	for i := range groups {
		groups[i] = letters(5, "abcdefghijkmnopqrstuvwxyzABCDEFGHIJKLMNPQRSTUVWXYZ23456789")
	}
	return strings.Join(groups, "-")
}

func letters(n int, from string) string {
	b := make([]byte, n)
	for i := range b {
		k, _ := rand.Int(rand.Reader, big.NewInt(int64(len(from)))) // rand.Reader never fails
		b[i] = from[k.Int64()]
	}
	return string(b)
}
