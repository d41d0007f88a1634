package vm_test

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/sim/payload/pki"
	"slipway/test/bench/vm"
)

// reportScript runs on an installed host: it reports what the host is made of, each time it boots.
const reportScript = `{ echo "{\"hostname\":\"$(hostname)\",\"boot_id\":\"$(cat /proc/sys/kernel/random/boot_id)\"," &&
echo "\"command_line\":\"$(cat /proc/cmdline)\",\"root\":\"$(findmnt -no SOURCE /)\"," &&
echo "\"addresses\":\"$(ip -4 -o address show scope global | tr -s ' ' | cut -d' ' -f4 | paste -sd' ')\"," &&
echo "\"first_boot_again\":$([ -e /boot/ignition.firstboot ] && echo true || echo false)," &&
echo "\"file\":\"$(cat /etc/bench-file)\"," &&
echo "\"boot_list\":\"$(efibootmgr 2>/dev/null | sed -n '/^Boot/p' | tr '\n\t' ';;')\"}"; } >/run/report.json &&
curl --silent --show-error --fail --retry 20 --retry-all-errors --data @/run/report.json `

// hostReport is the report of such a host.
type hostReport struct {
	Hostname       string `json:"hostname"`
	BootID         string `json:"boot_id"`
	CommandLine    string `json:"command_line"`
	Root           string `json:"root"`
	Addresses      string `json:"addresses"`
	FirstBootAgain bool   `json:"first_boot_again"`
	File           string `json:"file"`
	BootList       string `json:"boot_list"`
}

// joined is a cluster that is there already, as far as a host that joins it can see: a
// machine config server, and somebody who hears that the host is up.
type joined struct {
	url       string // of the machine config server, for machines
	authority string // PEM
	reports   chan hostReport
}

func newJoined(t *testing.T) *joined {
	t.Helper()
	j := &joined{reports: make(chan hostReport, 10)}
	plain := listen(t, nil, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var report hostReport
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(body, &report)
		}
		if err != nil {
			report.Hostname = fmt.Sprintf("a report that cannot be read: %s: %s", err, body)
		}
		j.reports <- report
	}))
	config := j.config(t, "http://"+plain+"/report")
	certificate := j.certify(t)
	j.url = "https://" + listen(t, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/config/worker" {
				http.NotFound(w, r)
				return
			}
			_, _ = w.Write(config)
		})) + "/config"
	return j
}

// config makes the config of the cluster's workers.
func (j *joined) config(t *testing.T, report string) []byte {
	t.Helper()
	unit := "[Unit]\nWants=network-online.target\nAfter=network-online.target ignition-firstboot-complete.service\n" +
		"[Service]\nType=oneshot\nStandardError=journal+console\nExecStart=/usr/local/bin/report\n[Install]\nWantedBy=multi-user.target\n"
	file := func(path string, mode int, content string) map[string]any {
		return map[string]any{"path": path, "mode": mode, "contents": map[string]string{
			"source": "data:;base64," + base64.StdEncoding.EncodeToString([]byte(content)),
		}}
	}
	config, err := json.Marshal(map[string]any{
		"ignition": map[string]string{"version": "3.2.0"},
		"storage": map[string]any{"files": []any{
			// This declares to the service that the cluster manages its network itself.
			file("/etc/kubernetes/manifests/keepalived.yaml", 0o644, "kind: Pod\n"),
			file("/etc/bench-file", 0o600, "from the machine config server"),
			file("/usr/local/bin/report", 0o755, "#!/bin/sh\n"+reportScript+report+"\n"),
		}},
		"systemd": map[string]any{"units": []any{map[string]any{"name": "report.service", "enabled": true, "contents": unit}}},
	})
	require.NoError(t, err)
	return config
}

// certify makes a certificate of the address that machines see, and its own authority.
func (j *joined) certify(t *testing.T) tls.Certificate {
	t.Helper()
	authority, err := pki.Authority("root-ca", time.Now())
	require.NoError(t, err)
	j.authority = string(authority.Cert)
	server, err := authority.Issue(pki.Subject{Name: "machine-config-server", Hosts: []string{vm.HostAddress}}, time.Now())
	require.NoError(t, err)
	certificate, err := tls.X509KeyPair(server.Cert, server.Key)
	require.NoError(t, err)
	return certificate
}

// listen serves on the loopback interface, with TLS if there is a config for it, and
// returns host:port as machines see it.
func listen(t *testing.T, config *tls.Config, handler http.Handler) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	if config != nil {
		listener = tls.NewListener(listener, config)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	go server.Serve(listener)
	t.Cleanup(func() { _ = server.Close() })
	return net.JoinHostPort(vm.HostAddress, port)
}
