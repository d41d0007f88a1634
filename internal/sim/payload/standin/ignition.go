package standin

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clarketm/json"
	"github.com/coreos/ignition/v2/config/util"
	"github.com/coreos/ignition/v2/config/v3_2/types"
)

// Size of what a real bootstrap config carries beside the files below: the definitions
// of a release, here of no meaning.
const (
	definitions    = 50
	definitionSize = 50_000 // bytes
)

// config of a role: it leads to the machine config server of the new cluster.
func (s *state) pointer(role string) ([]byte, error) {
	c := types.Config{Ignition: types.Ignition{
		Version: types.MaxVersion.String(),
		Config: types.IgnitionConfig{
			Merge: []types.Resource{{Source: util.StrToPtr("https://api-int." + s.domain() + ":22623/config/" + role)}},
		},
		Security: types.Security{
			TLS: types.TLS{CertificateAuthorities: []types.Resource{{Source: util.StrToPtr(dataURL(s.PKI.Root.Cert))}}},
		},
	}}
	return marshal(role, c)
}

func marshal(name string, c types.Config) ([]byte, error) {
	data, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("write %s config: %w", name, err)
	}
	return data, nil
}

func dataURL(data []byte) string {
	return "data:text/plain;charset=utf-8;base64," + base64.StdEncoding.EncodeToString(data)
}

// bootstrap makes the config of the machine that starts the control plane.
func (s *state) bootstrap(manifests files, inPlace bool) ([]byte, error) {
	content, err := s.bootstrapFiles(manifests)
	if err != nil {
		return nil, err
	}
	units := s.units(inPlace)
	for _, u := range units {
		if name, service := strings.CutSuffix(u.name, ".service"); service && u.kind != ofSystem {
			content["/usr/local/bin/"+name+".sh"] = []byte("#!/usr/bin/env bash\nset -euo pipefail\necho " + name + "\n")
		}
	}
	if s.NodeIP != "" { // data/data/bootstrap/files/usr/local/bin/kubelet.sh of openshift/installer does the same
		kubelet := "/usr/bin/kubelet --address=" + s.NodeIP + " --node-ip=" + s.NodeIP
		content["/usr/local/bin/kubelet.sh"] = []byte("#!/usr/bin/env bash\nset -euo pipefail\necho " + kubelet + "\n")
	}
	for i := range definitions {
		content[fmt.Sprintf("/opt/openshift/release-manifests/0000_%02d_definition.crd.yaml", i)] = definition(i)
	}
	c := types.Config{Ignition: types.Ignition{Version: types.MaxVersion.String()}}
	c.Passwd.Users = []types.PasswdUser{
		{Name: "core", SSHAuthorizedKeys: []types.SSHAuthorizedKey{types.SSHAuthorizedKey(s.Config.SSHKey)}},
	}
	for _, path := range slices.Sorted(maps.Keys(content)) {
		f := types.File{Node: types.Node{Path: path, Overwrite: util.BoolToPtr(true), User: types.NodeUser{Name: util.StrToPtr("root")}}}
		f.Mode = util.IntToPtr(0o600)
		if strings.HasPrefix(path, "/usr/local/bin/") {
			f.Mode = util.IntToPtr(0o555)
		}
		f.Contents.Source = util.StrToPtr(dataURL(content[path]))
		c.Storage.Files = append(c.Storage.Files, f)
	}
	c.Storage.Files = append(c.Storage.Files, types.File{
		Node: types.Node{Path: "/etc/motd", User: types.NodeUser{Name: util.StrToPtr("root")}},
		FileEmbedded1: types.FileEmbedded1{
			Mode:   util.IntToPtr(0o644),
			Append: []types.Resource{{Source: util.StrToPtr(dataURL([]byte("This is the bootstrap node.\n")))}},
		},
	})
	for _, u := range units {
		c.Systemd.Units = append(c.Systemd.Units, u.ignition())
	}
	return marshal("bootstrap", c)
}

// bootstrapFiles makes the files of the bootstrap host that describe the cluster, by path.
func (s *state) bootstrapFiles(manifests files) (files, error) {
	kubeconfig, err := s.kubeconfig("https://api-int." + s.domain() + ":6443")
	if err != nil {
		return nil, err
	}
	loopback, err := s.kubeconfig("https://localhost:6443")
	if err != nil {
		return nil, err
	}
	out := files{
		"/root/.docker/config.json":                           []byte(s.Config.PullSecret),
		"/opt/openshift/auth/kubeconfig":                      kubeconfig,
		"/opt/openshift/auth/kubeconfig-kubelet":              kubeconfig,
		"/opt/openshift/auth/kubeconfig-loopback":             loopback,
		"/opt/openshift/tls/root-ca.crt":                      s.PKI.Root.Cert,
		"/opt/openshift/tls/root-ca.key":                      s.PKI.Root.Key,
		"/opt/openshift/tls/machine-config-server.crt":        s.PKI.MCS.Cert,
		"/opt/openshift/tls/machine-config-server.key":        s.PKI.MCS.Key,
		"/opt/openshift/tls/kube-apiserver-lb-signer.crt":     s.PKI.APISigner.Cert,
		"/opt/openshift/tls/kube-apiserver-lb-signer.key":     s.PKI.APISigner.Key,
		"/opt/openshift/tls/admin-kubeconfig-signer.crt":      s.PKI.AdminSigner.Cert,
		"/opt/openshift/release-image":                        []byte(s.Release),
		"/etc/NetworkManager/system-connections/nmconnection": []byte("[connection]\nid=bootstrap\n"),
	}
	for path, data := range manifests {
		out["/opt/openshift/"+path] = data
	}
	return out, nil
}

// definition returns a long text, the same in every run.
func definition(n int) []byte {
	var b strings.Builder
	fmt.Fprintf(
		&b,
		"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: definition-%d\ndescription: |\n",
		n,
	)
	for i := 0; b.Len() < definitionSize; i++ {
		fmt.Fprintf(&b, "  property %d of definition %d has a description of its own, as real ones have.\n", i, n)
	}
	return []byte(b.String())
}
