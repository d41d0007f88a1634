// Package etcd lets hosts join, leave and restore the etcd of a bench cluster. What is asked often is asked over HTTP, and
// what happens once is left to etcdctl: each of its processes costs an emulated machine a second.
package etcd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// commandLimit bounds one call of etcdctl, and one question.
const commandLimit = 60 * time.Second

// Ctl asks and changes the members of etcd.
type Ctl struct {
	Program string // etcdctl
	// Authority, Cert and Key are files.
	Authority, Cert, Key string

	asking asking
}

// Member is a member as the cluster knows it.
type Member struct {
	ID      uint64
	Name    string // empty until it has started
	Peers   []string
	Clients []string
	Learner bool
}

// Votes says whether the member has started and is no learner.
func (m Member) Votes() bool { return m.Name != "" && !m.Learner }

// AddLearner adds a member that does not vote yet: until it has started, one that votes
// could cost a small cluster its majority.
func (c *Ctl) AddLearner(ctx context.Context, endpoint, name, peer string) error {
	_, err := c.run(ctx, endpoint, "member", "add", name, "--learner", "--peer-urls="+peer)
	return err
}

// Promote lets a learner vote; etcd refuses while the learner lags behind.
func (c *Ctl) Promote(ctx context.Context, endpoint string, id uint64) error {
	_, err := c.run(ctx, endpoint, "member", "promote", strconv.FormatUint(id, 16))
	return err
}

// Remove removes a member.
func (c *Ctl) Remove(ctx context.Context, endpoint string, id uint64) error {
	_, err := c.run(ctx, endpoint, "member", "remove", strconv.FormatUint(id, 16))
	return err
}

// Save writes a snapshot to a file.
func (c *Ctl) Save(ctx context.Context, endpoint, file string) error {
	_, err := c.run(ctx, endpoint, "snapshot", "save", file)
	return err
}

// Restore makes the data of a cluster of one out of a snapshot.
func (c *Ctl) Restore(ctx context.Context, snapshot, data, name, peer string) error {
	_, err := c.run(ctx, "", "snapshot", "restore", snapshot, "--data-dir="+data, "--name="+name,
		"--initial-cluster="+name+"="+peer, "--initial-advertise-peer-urls="+peer)
	return err
}

func (c *Ctl) run(ctx context.Context, endpoint string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	argv := slices.Clone(args)
	if endpoint != "" {
		argv = append(argv, "--endpoints="+endpoint, "--cacert="+c.Authority, "--cert="+c.Cert, "--key="+c.Key,
			"--command-timeout=30s", "--dial-timeout=15s")
	}
	cmd := exec.CommandContext(ctx, c.Program, argv...)
	cmd.Env = []string{"ETCDCTL_API=3"}
	var said bytes.Buffer
	cmd.Stderr = &said
	output, err := cmd.Output()
	if err != nil {
		words := strings.Join(args[:2], " ")
		return nil, fmt.Errorf("etcdctl %s at %s: %w: %s", words, endpoint, err, lastLine(said.String()))
	}
	return output, nil
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// errNotYet says that something has to happen elsewhere first.
var errNotYet = errors.New("not yet")
