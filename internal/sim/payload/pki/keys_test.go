package pki_test

import (
	"crypto/tls"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/sim/payload/pki"
)

func TestProgramsThatAskAtOnceGetOneCertificate(t *testing.T) {
	t.Parallel()
	now := time.Now()
	authority, err := pki.Authority("signer", now)
	require.NoError(t, err)
	keys := pki.Keys(t.TempDir())
	subject := pki.Subject{Name: "etcd:master-0", Groups: []string{"b", "a"}, Hosts: []string{"localhost", "::1", "192.0.2.1", "::1"}}
	var asking sync.WaitGroup
	for range 20 {
		asking.Go(func() { _ = keys.Issue(authority, "etcd", subject, now) })
	}
	asking.Wait()
	_, err = tls.LoadX509KeyPair(keys.Cert("etcd"), keys.Key("etcd"))
	require.NoError(t, err)
	first, err := os.ReadFile(keys.Cert("etcd"))
	require.NoError(t, err)
	require.NoError(t, keys.Issue(authority, "etcd", subject, now))
	again, err := os.ReadFile(keys.Cert("etcd"))
	require.NoError(t, err)
	require.Equal(t, first, again)

	subject.Hosts = append(subject.Hosts, "192.0.2.2")
	require.NoError(t, keys.Issue(authority, "etcd", subject, now))
	other, err := os.ReadFile(keys.Cert("etcd"))
	require.NoError(t, err)
	require.NotEqual(t, first, other, "the host has another address")
}
