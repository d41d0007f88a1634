package etcd

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
)

// asking is how members are asked. Connections stay open: a handshake costs more than the question.
type asking struct {
	mu     sync.Mutex
	client *http.Client
}

// Members asks the member at endpoint (etcd's gRPC gateway, POST /v3/cluster/member/list; numbers of 64 bits are strings).
func (c *Ctl) Members(ctx context.Context, endpoint string) ([]Member, error) {
	var list struct {
		Members []struct {
			ID         uint64   `json:"ID,string"`
			Name       string   `json:"name"`
			PeerURLs   []string `json:"peerURLs"`
			ClientURLs []string `json:"clientURLs"`
			IsLearner  bool     `json:"isLearner"`
		} `json:"members"`
	}
	if err := c.ask(ctx, http.MethodPost, endpoint+"/v3/cluster/member/list", &list); err != nil {
		return nil, err
	}
	members := make([]Member, 0, len(list.Members))
	for _, m := range list.Members {
		members = append(members, Member{m.ID, m.Name, m.PeerURLs, m.ClientURLs, m.IsLearner})
	}
	return members, nil
}

// Healthy asks a member for a read that a majority agrees on (GET /health).
func (c *Ctl) Healthy(ctx context.Context, endpoint string) error {
	var answer struct {
		Health string `json:"health"`
		Reason string `json:"reason"`
	}
	if err := c.ask(ctx, http.MethodGet, endpoint+"/health", &answer); err != nil {
		return err
	}
	if answer.Health != "true" {
		return fmt.Errorf("require etcd at %s to be healthy, found %q: %s", endpoint, answer.Health, answer.Reason)
	}
	return nil
}

func (c *Ctl) ask(ctx context.Context, method, url string, into any) error {
	client, err := c.open()
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader([]byte("{}")))
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("ask etcd: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return fmt.Errorf("ask etcd at %s: %w", url, err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("require %s to answer, found %s: %s", url, response.Status, lastLine(string(text)))
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("read what etcd says at %s: %w", url, err)
	}
	return nil
}

// open makes the client once the files it needs are there.
func (c *Ctl) open() (*http.Client, error) {
	c.asking.mu.Lock()
	defer c.asking.mu.Unlock()
	if c.asking.client != nil {
		return c.asking.client, nil
	}
	authority, err := os.ReadFile(c.Authority)
	if err != nil {
		return nil, fmt.Errorf("read the authority of etcd: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	own, err := tls.LoadX509KeyPair(c.Cert, c.Key)
	if err != nil {
		return nil, fmt.Errorf("read this host's certificate for etcd: %w", err)
	}
	c.asking.client = &http.Client{Timeout: commandLimit, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS12},
	}}
	return c.asking.client, nil
}
