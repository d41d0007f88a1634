package api_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/api"
	"slipway/internal/model"
	"slipway/internal/testing/await"
)

// raw opens a connection to the service that receives as little as it can.
func (s *service) raw(t *testing.T) net.Conn {
	t.Helper()
	address, err := url.Parse(s.url)
	require.NoError(t, err)
	conn, err := net.Dial("tcp", address.Host)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.(*net.TCPConn).SetReadBuffer(4<<10))
	return conn
}

// serves reports whether the service is still working on the request of a connection. The client cannot see that: unread data hides the
// end.
func (s *service) serves(conn net.Conn) bool {
	state, _ := s.connections.Load(conn.LocalAddr().String())
	return state == http.StateActive
}

// Finding A3 of the second security review: twenty connections that ask for a large cluster and read nothing held all connections of
// the database.
func TestSlowReadersKeepNoOthersWaiting(t *testing.T) {
	t.Parallel()
	// The deadlines of their answers are an hour away: they are connected all the time, however busy the machine is.
	s := newService(t, func(o *api.Options) { o.Now = func() time.Time { return time.Now().Add(time.Hour) } })
	c := s.cluster(nil)
	e := s.infraEnv(c.ID)
	for range 4 { // the kernel takes 4 MB of an answer for a client that reads nothing
		h := s.host(e.ID)
		s.changeHost(e.ID, h.ID, func(h *model.Host) { h.Inventory.SystemVendor.SerialNumber = strings.Repeat("x", 1900<<10) })
	}
	quiet := time.Now()
	s.want(http.StatusOK, http.MethodGet, "/v2/clusters", nil)
	alone := time.Since(quiet)

	const attackers = 20 // the pool of the database has 16 connections
	var connections []net.Conn
	for range attackers {
		conn := s.raw(t)
		_, err := fmt.Fprintf(conn, "GET %s%s HTTP/1.1\r\nHost: x\r\n\r\n", base, clusterPath(c.ID))
		require.NoError(t, err)
		connections = append(connections, conn)
	}
	for _, conn := range connections { // each answer has begun
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(await.Limit(t))))
		_, err := io.ReadFull(conn, make([]byte, 12))
		require.NoError(t, err)
	}
	begun := time.Now()
	s.want(http.StatusOK, http.MethodGet, "/v2/clusters", nil)
	s.want(http.StatusOK, http.MethodGet, hostPath(e.ID, s.host(e.ID).ID)+"/instructions", nil)
	t.Logf("slow readers %d, a list takes %s alone, list, registration and poll beside them %s", attackers, alone.Round(time.Millisecond),
		time.Since(begun).Round(time.Millisecond))
	for _, conn := range connections {
		require.True(t, s.serves(conn), "the second client is served while the slow readers are connected")
	}
}

// largeReply is the head of a request with a large body.
const largeReply = "POST %s%s/instructions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 4000000\r\n\r\n"

// Finding A4: three bodies that drip kept every other large body waiting.
func TestBodiesThatDripKeepNoOthersWaiting(t *testing.T) {
	t.Parallel()
	s := newService(t)
	e := s.infraEnv(uuid.Nil)
	h := s.host(e.ID)
	const attackers = 6
	var connections []net.Conn
	for range attackers {
		conn := s.raw(t)
		_, err := fmt.Fprintf(conn, largeReply+"{\"output\":\"%s", base, hostPath(e.ID, h.ID), strings.Repeat("x", 1100<<10))
		require.NoError(t, err)
		connections = append(connections, conn)
	}
	begun := time.Now()
	const answer = `{"step_type":"inventory","step_id":"inventory-1","exit_code":1,"output":"","error":%q}`
	body := fmt.Sprintf(answer, strings.Repeat("x", 1200<<10))
	s.want(http.StatusNoContent, http.MethodPost, hostPath(e.ID, h.ID)+"/instructions", body)
	t.Logf("dripping bodies %d, a large one beside them takes %s", attackers, time.Since(begun).Round(time.Millisecond))
	for _, conn := range connections {
		require.True(t, s.serves(conn), "the second client is served while the bodies drip")
	}
}

// One owner has a bound of bodies on their way in, and takes no place from another.
func TestLargeBodiesOfOneOwnerAreBounded(t *testing.T) {
	t.Parallel()
	s := newService(t)
	e := s.infraEnv(uuid.Nil)
	h := s.host(e.ID)
	refused := make(chan struct{}, 64)
	for range 40 { // 32 may be on their way
		conn := s.raw(t)
		_, err := fmt.Fprintf(conn, largeReply+"{", base, hostPath(e.ID, h.ID))
		require.NoError(t, err)
		go func() {
			line := make([]byte, 12)
			if _, err := io.ReadFull(conn, line); err == nil && string(line) == "HTTP/1.1 429" {
				refused <- struct{}{}
			}
		}()
	}
	for range 8 {
		await.Receive(t, refused)
	}
}
