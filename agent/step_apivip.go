package agent

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"slipway/internal/hostconfig/ignition/document"
	"slipway/internal/wire"
)

const (
	// ignitionAccept is the media type requested from a machine config server
	// (docs/reference/agent-protocol.md, "API VIP").
	ignitionAccept = "application/vnd.coreos.ignition+json; version=3.2.0"
	// apiVIPLimit is how long the answer may take.
	apiVIPLimit = 30 * time.Second
	// maxNodeConfig bounds the configuration of a node, in bytes.
	maxNodeConfig = 64 << 20
)

// keptFiles are the files of a node's configuration that the service wants to see.
var keptFiles = []string{
	"/etc/kubernetes/manifests/coredns.yaml", "/etc/kubernetes/manifests/keepalived.yaml",
	"/etc/kubernetes/static-pod-resources/coredns.yaml", "/etc/kubernetes/static-pod-resources/keepalived.yaml",
}

// encapsulatedConfig is the file with the MachineConfig of a node, of which the service wants to see the operating system.
const encapsulatedConfig = "/etc/ignition-machine-config-encapsulated.json"

// apiVIPConnectivity fetches the configuration a host of an existing cluster gets, and
// keeps of it what the service judges the host by: encrypted disks and a few files. A
// configuration that cannot be fetched is an answer, not a failure.
func (a *Agent) apiVIPConnectivity(ctx context.Context, req *wire.APIVipConnectivityRequest) (wire.APIVipConnectivityResponse, error) {
	response := wire.APIVipConnectivityResponse{URL: req.URL}
	config, err := a.nodeConfig(ctx, req)
	if err == nil {
		response.Ignition, err = essence(config)
	}
	if err != nil {
		response.DownloadError = err.Error()
		return response, nil //nolint:nilerr // see above
	}
	response.IsSuccess = true
	return response, nil
}

func (a *Agent) nodeConfig(ctx context.Context, req *wire.APIVipConnectivityRequest) ([]byte, error) {
	transport, err := a.trusting(req.CaCertificate)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, apiVIPLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, req.URL, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", ignitionAccept)
	if req.IgnitionEndpointToken != "" {
		request.Header.Set("Authorization", "Bearer "+req.IgnitionEndpointToken)
	}
	for _, h := range req.RequestHeaders {
		request.Header.Set(h.Key, h.Value)
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("require status 200, found %s", response.Status)
	}
	return io.ReadAll(io.LimitReader(response.Body, maxNodeConfig))
}

// trusting returns a transport for servers whose certificate an authority (PEM in base64) signed.
func (a *Agent) trusting(authority string) (http.RoundTripper, error) {
	base, ok := a.host.HTTP.(*http.Transport)
	if a.host.HTTP == nil {
		base, ok = http.DefaultTransport.(*http.Transport)
	}
	if authority == "" || !ok {
		return a.host.HTTP, nil
	}
	pem, err := base64.StdEncoding.DecodeString(authority)
	if err != nil {
		return nil, fmt.Errorf("read the certificate authority: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, errors.New("read the certificate authority: no certificate found")
	}
	transport := base.Clone()
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}
	return transport, nil
}

// essence returns the parts of a node's configuration that the service wants to see.
func essence(config []byte) (string, error) {
	d, err := document.Parse(config)
	if err != nil {
		return "", err
	}
	d.RemoveFiles(func(f *document.File) bool {
		return f.Path != encapsulatedConfig && !slices.Contains(keptFiles, f.Path)
	})
	shorten(d)
	whole, err := d.Bytes()
	if err != nil {
		return "", err
	}
	var root struct {
		Ignition json.RawMessage `json:"ignition"`
		Storage  struct {
			LUKS  json.RawMessage `json:"luks,omitempty"`
			Files json.RawMessage `json:"files,omitempty"`
		} `json:"storage"`
	}
	if err := json.Unmarshal(whole, &root); err != nil {
		return "", err
	}
	kept, err := json.Marshal(root)
	return string(kept), err
}

// shorten leaves only the operating system in the MachineConfig of a node, and removes one that cannot be read.
func shorten(d *document.Document) {
	f, err := d.File(encapsulatedConfig)
	if err != nil {
		return // releases of before have none
	}
	var config struct {
		Spec struct {
			OSImageURL string `json:"osImageURL,omitempty"`
		} `json:"spec"`
	}
	content, err := f.Content()
	if err == nil {
		err = json.Unmarshal(content, &config)
	}
	if err != nil {
		d.RemoveFiles(func(f *document.File) bool { return f.Path == encapsulatedConfig })
		return
	}
	short, _ := json.Marshal(config) // strings always marshal
	f.SetContent(short)
}
