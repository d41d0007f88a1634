package validation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/validation"
	"slipway/internal/model"
	"slipway/internal/wire"
)

const tangWorkers = `{"storage":{"luks":[{"clevis":{"tang":[{"url":"http://tang.example.com","thumbprint":"abc"}]}}]}}`

// tang makes the cluster encrypt all disks with a Tang server, and the host answer.
func tang(reply *wire.TangConnectivityResponse, problem string) func(*fixture) {
	return func(w *fixture) {
		w.c.DiskEncryption = model.DiskEncryption{
			EnableOn: "all", Mode: "tang", TangServers: `[{"url":"http://tang.example.com","thumbprint":"abc"}]`,
		}
		w.h.Tang, w.h.TangError = reply, problem
	}
}

func tangAnswers(urls ...string) *wire.TangConnectivityResponse {
	out := &wire.TangConnectivityResponse{IsSuccess: true}
	for _, u := range urls {
		out.TangServerResponse = append(out.TangServerResponse, tangServers{{TangURL: u}}...)
	}
	return out
}

type tangServers = []struct {
	Payload    string `json:"payload,omitempty,omitzero"`
	Signatures []struct {
		Protected string `json:"protected,omitempty,omitzero"`
		Signature string `json:"signature,omitempty,omitzero"`
	} `json:"signatures,omitempty,omitzero"`
	TangURL string `json:"tang_url,omitempty,omitzero"`
}

const encryption = "disk-encryption-requirements-satisfied"

// dayTwoCases are of hosts that join an existing cluster, and of Tang servers.
var dayTwoCases = []hostCase{
	{
		"reports why a Tang server does not answer",
		encryption,
		tang(&wire.TangConnectivityResponse{}, "connection refused"),
		fails,
		"connection refused",
	},
	{"passes when the Tang server of the cluster answers", encryption, tang(tangAnswers("http://tang.example.com"), ""), ok, ""},
	{
		"waits for a Tang server that was added since",
		encryption,
		tang(tangAnswers("http://old.example.com"), ""),
		waits,
		"http://tang.example.com",
	},
	{
		"waits for the Tang servers of an existing cluster's workers",
		encryption,
		ignition(wire.APIVipConnectivityResponse{IsSuccess: true, Ignition: tangWorkers}),
		waits,
		"",
	},
	{"passes when the Tang servers of the workers answer", encryption, func(w *fixture) {
		ignition(wire.APIVipConnectivityResponse{IsSuccess: true, Ignition: tangWorkers})(w)
		w.h.Tang = tangAnswers("http://tang.example.com")
	}, ok, ""},
	{"fails without the TPM the workers use", encryption, func(w *fixture) {
		ignition(wire.APIVipConnectivityResponse{IsSuccess: true, Ignition: `{"storage":{"luks":[{"clevis":{"tpm2":true}}]}}`})(w)
		w.inv.TpmVersion = wire.InventoryTpmVersionNone
	}, fails, "TPM"},
	{
		"waits when the configuration of the workers did not come",
		encryption,
		ignition(wire.APIVipConnectivityResponse{DownloadError: "refused"}),
		waits,
		"",
	},
	{
		"does not read what is no configuration",
		encryption,
		ignition(wire.APIVipConnectivityResponse{IsSuccess: true, Ignition: "<html>"}),
		absent,
		"",
	},
	{
		"does not need the hosts to reach each other on day two",
		"belongs-to-majority-group",
		func(w *fixture) { dayTwo(w); w.h.Connectivity = nil },
		ok,
		"",
	},
}

func TestTangServersOfAHost(t *testing.T) {
	t.Parallel()
	c, hosts := fleet(5)
	require.Empty(t, validation.TangServers(c, hosts[0]), "disks are not encrypted")
	c.DiskEncryption = model.DiskEncryption{EnableOn: "workers", Mode: "tang", TangServers: "[]"}
	require.Empty(t, validation.TangServers(c, hosts[0]), "masters are not concerned")
	require.Equal(t, "[]", validation.TangServers(c, hosts[4]))
	hosts[4].Kind = model.KindAddToExistingClusterHost
	require.Empty(t, validation.TangServers(c, hosts[4]), "the existing cluster has not told its servers")
	hosts[4].IgnitionDownload = &wire.APIVipConnectivityResponse{IsSuccess: true, Ignition: tangWorkers}
	require.JSONEq(t, `[{"url":"http://tang.example.com","thumbprint":"abc"}]`, validation.TangServers(c, hosts[4]))
}
