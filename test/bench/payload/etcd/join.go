package etcd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// pause is between two tries.
const pause = 5 * time.Second

// Local is the member of this host.
type Local struct {
	Ctl  *Ctl
	Name string
	// Peer is where the other members reach it, Data its folder.
	Peer, Data string
	// Cluster is the endpoint of a cluster to join; empty: it starts a new one.
	Cluster string
	// Snapshot is a file a cluster of one is restored from, when there is one.
	Snapshot string
	Log      *slog.Logger
	Sleep    func(context.Context, time.Duration) error
}

// Prepare makes the member part of its cluster and returns the flags it is started with.
// It tries until that works or ctx ends. Doing it again is safe at any point.
func (l *Local) Prepare(ctx context.Context) ([]string, error) {
	switch {
	case exists(filepath.Join(l.Data, "member")):
		return nil, nil // it knows all it needs
	case exists(l.Snapshot):
		return nil, l.restore(ctx)
	case l.Cluster == "":
		return []string{"--initial-cluster=" + l.Name + "=" + l.Peer, "--initial-cluster-state=new"}, nil
	}
	for {
		flags, err := l.join(ctx)
		if err == nil {
			return flags, nil
		}
		l.Log.Info("etcd not joined yet", "reason", err)
		if err := l.Sleep(ctx, pause); err != nil {
			return nil, fmt.Errorf("join etcd: %w", err)
		}
	}
}

// restore goes by way of another folder: one that was half restored must not count.
func (l *Local) restore(ctx context.Context) error {
	half := l.Data + ".restoring"
	if err := os.RemoveAll(half); err != nil {
		return err
	}
	if err := l.Ctl.Restore(ctx, l.Snapshot, half, l.Name, l.Peer); err != nil {
		return err
	}
	if err := os.RemoveAll(l.Data); err != nil {
		return err
	}
	return os.Rename(half, l.Data)
}

func (l *Local) join(ctx context.Context) ([]string, error) {
	members, err := l.Ctl.Members(ctx, l.Cluster)
	if err != nil {
		return nil, err
	}
	step := Next(members, l.Peer)
	switch {
	case step.Start:
		return []string{"--initial-cluster=" + InitialCluster(members, l.Name, l.Peer), "--initial-cluster-state=existing"}, nil
	case step.Remove != 0:
		err = l.Ctl.Remove(ctx, l.Cluster, step.Remove)
	case step.Add:
		err = l.Ctl.AddLearner(ctx, l.Cluster, l.Name, l.Peer)
	default:
		err = fmt.Errorf("another member is joining: %w", errNotYet)
	}
	if err != nil {
		return nil, err
	}
	return l.join(ctx)
}

// Step is the next act of a host without data to join.
type Step struct {
	Start, Add bool
	Remove     uint64
}

// Next decides by the members the cluster has; the zero Step is to wait: etcd takes one
// learner at a time.
func Next(members []Member, peer string) Step {
	for _, m := range members {
		if !slices.Contains(m.Peers, peer) {
			continue
		}
		if m.Name == "" {
			return Step{Start: true}
		}
		// It ran here once, and its data is gone: what it voted for must not be forgotten
		// under the same identity.
		return Step{Remove: m.ID}
	}
	if slices.ContainsFunc(members, func(m Member) bool { return m.Learner || m.Name == "" }) {
		return Step{}
	}
	return Step{Add: true}
}

// InitialCluster lists the members for one that starts with them.
func InitialCluster(members []Member, name, peer string) string {
	var all []string
	for _, m := range members {
		for _, p := range m.Peers {
			if p == peer {
				all = append(all, name+"="+p)
			} else {
				all = append(all, m.Name+"="+p)
			}
		}
	}
	return strings.Join(all, ",")
}

// Follow promotes the member once it has caught up; it returns when it votes.
func (l *Local) Follow(ctx context.Context) error {
	if l.Cluster == "" {
		return nil
	}
	for {
		votes, err := l.promote(ctx)
		if votes {
			l.Log.Info("member of etcd votes", "name", l.Name)
			return nil
		}
		l.Log.Info("member of etcd does not vote yet", "reason", err)
		if err := l.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

func (l *Local) promote(ctx context.Context) (bool, error) {
	members, err := l.Ctl.Members(ctx, l.Cluster)
	if err != nil {
		return false, err
	}
	for _, m := range members {
		switch {
		case !slices.Contains(m.Peers, l.Peer):
		case m.Votes():
			return true, nil
		case m.Name == "":
			return false, fmt.Errorf("it has not started: %w", errNotYet)
		default:
			return false, l.Ctl.Promote(ctx, l.Cluster, m.ID)
		}
	}
	return false, fmt.Errorf("it is no member: %w", errNotYet)
}

func exists(name string) bool {
	if name == "" {
		return false
	}
	_, err := os.Stat(name)
	return !errors.Is(err, fs.ErrNotExist)
}
