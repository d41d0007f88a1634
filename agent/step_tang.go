package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"slipway/internal/wire"
)

const (
	// tangLimit is how long one server may take.
	tangLimit = 30 * time.Second
	// maxAdvertisement bounds what a server reports of its keys, in bytes.
	maxAdvertisement = 1 << 20
)

// tangServer is one of the servers that the encryption of disks needs.
type tangServer struct {
	URL        string `json:"url"`
	Thumbprint string `json:"thumbprint"`
}

// tangConnectivity asks every Tang server for its keys. One that does not give them fails
// the step: a disk encrypted with it could not be opened.
func (a *Agent) tangConnectivity(ctx context.Context, req *wire.TangConnectivityRequest) (wire.TangConnectivityResponse, error) {
	response := wire.TangConnectivityResponse{IsSuccess: true}
	var servers []tangServer
	if err := json.Unmarshal([]byte(req.TangServers), &servers); err != nil {
		return response, fmt.Errorf("read the list of Tang servers: %w", err)
	}
	for _, server := range servers {
		keys, err := a.tangKeys(ctx, server)
		if err != nil {
			return response, fmt.Errorf("ask Tang server %s for its keys: %w", server.URL, err)
		}
		response.TangServerResponse = append(response.TangServerResponse, keys)
	}
	return response, nil
}

// tangAnswer is an entry of wire.TangConnectivityResponse, which has no name of its own.
type tangAnswer = struct {
	Payload    string          `json:"payload,omitempty,omitzero"`
	Signatures []tangSignature `json:"signatures,omitempty,omitzero"`
	TangURL    string          `json:"tang_url,omitempty,omitzero"`
}

type tangSignature = struct {
	Protected string `json:"protected,omitempty,omitzero"`
	Signature string `json:"signature,omitempty,omitzero"`
}

// tangKeys reads an advertisement: a JSON Web Signature with one signature or a list of
// them (RFC 7515, 7.2).
func (a *Agent) tangKeys(ctx context.Context, server tangServer) (tangAnswer, error) {
	ctx, cancel := context.WithTimeout(ctx, tangLimit)
	defer cancel()
	address, err := url.JoinPath(server.URL, "adv", server.Thumbprint)
	if err != nil {
		return tangAnswer{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return tangAnswer{}, err
	}
	reply, err := (&http.Client{Transport: a.host.HTTP}).Do(request)
	if err != nil {
		return tangAnswer{}, err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return tangAnswer{}, fmt.Errorf("require status 200, found %s", reply.Status)
	}
	var signed struct {
		Payload    string          `json:"payload"`
		Signatures []tangSignature `json:"signatures"`
		tangSignature
	}
	if err := json.NewDecoder(io.LimitReader(reply.Body, maxAdvertisement)).Decode(&signed); err != nil {
		return tangAnswer{}, fmt.Errorf("read the keys: %w", err)
	}
	if len(signed.Signatures) == 0 && signed.Signature != "" {
		signed.Signatures = []tangSignature{signed.tangSignature}
	}
	return tangAnswer{Payload: signed.Payload, Signatures: signed.Signatures, TangURL: server.URL}, nil
}
