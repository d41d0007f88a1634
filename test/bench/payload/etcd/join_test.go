package etcd_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/test/bench/payload/etcd"
)

const peer = "https://192.0.2.2:2380"

func voter(id uint64, name, peer string) etcd.Member {
	return etcd.Member{ID: id, Name: name, Peers: []string{peer}}
}

func TestNext(t *testing.T) {
	t.Parallel()
	other := voter(1, "a", "https://192.0.2.1:2380")
	learning := etcd.Member{ID: 3, Name: "c", Peers: []string{"https://192.0.2.3:2380"}, Learner: true}
	for name, c := range map[string]struct {
		members []etcd.Member
		want    etcd.Step
	}{
		"a host that is no member is added": {[]etcd.Member{other}, etcd.Step{Add: true}},
		"one that was added starts": {
			[]etcd.Member{other, {ID: 2, Peers: []string{peer}, Learner: true}}, etcd.Step{Start: true},
		},
		"one that lost its data is removed first": {[]etcd.Member{other, voter(2, "b", peer)}, etcd.Step{Remove: 2}},
		"one that lost its data while it learned is removed": {
			[]etcd.Member{other, {ID: 2, Name: "b", Peers: []string{peer}, Learner: true}}, etcd.Step{Remove: 2},
		},
		"others wait for a learner": {[]etcd.Member{other, learning}, etcd.Step{}},
		"others wait for a learner that has not started": {
			[]etcd.Member{other, {ID: 4, Peers: []string{"https://192.0.2.4:2380"}, Learner: true}}, etcd.Step{},
		},
		"the host that became a master again joins under its old peer": {
			[]etcd.Member{other, voter(5, "e", "https://192.0.2.5:2380")}, etcd.Step{Add: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, etcd.Next(c.members, peer))
		})
	}
}

func TestInitialCluster(t *testing.T) {
	t.Parallel()
	members := []etcd.Member{voter(1, "a", "https://192.0.2.1:2380"), {ID: 2, Peers: []string{peer}, Learner: true}}
	require.Equal(t, "a=https://192.0.2.1:2380,b="+peer, etcd.InitialCluster(members, "b", peer))
}
