package bench_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// crowdEnv makes the program of these benchmarks a crowd of clients that mean no good. It reads its order from its input.
const crowdEnv = "SLIPWAY_BENCH_CROWD"

// crowdOrder says what a crowd does, and what it has for that.
type crowdOrder struct {
	Kinds     []string
	Address   string // host and port
	Authority []byte // of the certificate, PEM
	For       time.Duration
	// Share divides the number of connections of each kind.
	Share int
	// Most bounds the requests of each kind.
	Most int64

	User, Viewer string
	// Envs belong to the crowd. Wide is an InfraEnv whose list of hosts is large; the viewer may read it.
	Envs []crowdEnvironment
	Wide string
}

// crowdEnvironment is an InfraEnv with the token of its image, the address of its image, and one of its hosts.
type crowdEnvironment struct {
	ID, Cluster, Image, ImageURL string
	Host, Token                  string
}

// crowd is the state of one kind of clients.
type crowd struct {
	*crowdOrder
	kind   string
	ctx    context.Context //nolint:containedctx // of the whole process
	tls    *tls.Config
	client *http.Client
	group  sync.WaitGroup
	sent   atomic.Int64

	mu      sync.Mutex
	answers map[string]int
}

// crowdReport has the requests that each kind has sent, and the answers by what was asked and their status.
type crowdReport struct {
	Sent    int64
	Answers map[string]int
}

// fromAddress is where crowds come from: hosts have another address.
var fromAddress = net.IPv4(127, 0, 0, 9)

// actAsCrowd reads an order, does it and prints a report.
func actAsCrowd() {
	var order crowdOrder
	if err := json.NewDecoder(os.Stdin).Decode(&order); err != nil {
		panic(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), order.For)
	defer cancel()
	authorities := x509.NewCertPool()
	authorities.AppendCertsFromPEM(order.Authority)
	security := &tls.Config{RootCAs: authorities, ServerName: "127.0.0.1"}
	report := crowdReport{Answers: map[string]int{}}
	var crowds []*crowd
	for _, kind := range order.Kinds {
		dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: fromAddress}}
		c := &crowd{
			crowdOrder: &order, kind: kind, ctx: ctx, tls: security, answers: map[string]int{},
			client: &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext, TLSClientConfig: security, MaxIdleConnsPerHost: 50}},
		}
		crowds = append(crowds, c)
		crowdKinds[kind](c)
	}
	for _, c := range crowds {
		c.group.Wait()
		report.Sent += c.sent.Load()
		for what, n := range c.answers {
			report.Answers[what] += n
		}
	}
	_ = json.NewEncoder(os.Stdout).Encode(report)
}

// every runs n clients that do something again and again until the time is over, or the requests are sent.
func (c *crowd) every(n int, do func()) {
	for range max(1, n/c.Share) {
		c.group.Go(func() {
			for c.ctx.Err() == nil && c.sent.Add(1) <= c.Most {
				do()
			}
		})
	}
}

// ask sends a request, reads the answer and counts it.
func (c *crowd) ask(what, method, path, header, token string, body io.Reader, kind string) {
	request, err := http.NewRequestWithContext(c.ctx, method, "https://"+c.Address+path, body)
	if err != nil {
		panic(err)
	}
	request.Header.Set(header, token)
	request.Header.Set("Content-Type", kind)
	answer, err := c.client.Do(request)
	if err != nil {
		c.count(what + " closed")
		return
	}
	_, err = io.Copy(io.Discard, answer.Body)
	_ = answer.Body.Close()
	if err != nil {
		c.count(what + " broken")
		return
	}
	c.count(fmt.Sprintf("%s %d", what, answer.StatusCode))
}

func (c *crowd) get(what, path, header, token string) {
	c.ask(what, http.MethodGet, path, header, token, nil, "application/json")
}

// dial opens a connection with little room for answers, until the time is over; nil: it is refused.
func (c *crowd) dial(what string) net.Conn {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: fromAddress}}
	conn, err := dialer.DialContext(c.ctx, "tcp", c.Address)
	if err != nil {
		c.count(what + " not connected")
		sleep(c.ctx, time.Second)
		return nil
	}
	_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	context.AfterFunc(c.ctx, func() { _ = conn.Close() })
	return conn
}

// connect opens one with TLS.
func (c *crowd) connect(what string) net.Conn {
	plain := c.dial(what)
	if plain == nil {
		return nil
	}
	conn := tls.Client(plain, c.tls)
	if err := conn.HandshakeContext(c.ctx); err != nil {
		_ = plain.Close()
		c.count(what + " not connected")
		sleep(c.ctx, time.Second)
		return nil
	}
	return conn
}

// count counts an answer; the end of the time is none.
func (c *crowd) count(what string) {
	if c.ctx.Err() != nil && !strings.HasSuffix(what, " open") {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers[what]++
}
