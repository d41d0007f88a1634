package installer_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"slipway/installer"
	"slipway/internal/platform/hostexec"
	"slipway/internal/testing/hostexectest"
)

func packed(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return "data:;base64," + base64.StdEncoding.EncodeToString(b.Bytes())
}

func bootstrapIgnition() string {
	return `{"ignition":{"version":"3.2.0"},
	"passwd":{"users":[{"name":"core","sshAuthorizedKeys":["ssh-ed25519 AAA","ssh-ed25519 BBB"]},{"name":"unknown-user","sshAuthorizedKeys":["x"]}]},
	"storage":{"directories":[{"path":"/opt/openshift/auth","mode":448}],
	"files":[
		{"path":"/root/.docker/config.json","mode":384,"overwrite":true,"user":{"name":"root"},"contents":{"source":"data:,%7B%22auths%22%3A%7B%7D%7D"}},
		{"path":"/usr/local/bin/bootkube.sh","mode":365,"contents":{"compression":"gzip","source":"` + packed("#!/bin/bash\n") + `"}},
		{"path":"/etc/motd","append":[{"source":"data:,welcome%0A"}]},
		{"path":"/opt/openshift/auth/kubeconfig","contents":{"source":"data:,config"}}],
	"links":[{"path":"/etc/zone","target":"/usr/share/zone/UTC"}]},
	"systemd":{"units":[
		{"name":"bootkube.service","contents":"[Unit]\n","dropins":[{"name":"10-a.conf","contents":"[Service]\n"}]},
		{"name":"kubelet.service","enabled":true,"contents":"[Install]\n"},
		{"name":"zincati.service","enabled":false},
		{"name":"bad.service","mask":true}]}}`
}

// services answers the commands of a host on which everything works.
func services(h *host, t *testing.T) {
	t.Helper()
	h.On("systemctl", hostexectest.Prints(""))
	h.On("hostnamectl", hostexectest.Prints(""))
	h.On("ssh-keygen", func(_ context.Context, c hostexec.Cmd) (hostexec.Result, error) {
		return hostexec.Result{}, os.WriteFile(h.root.Path("/root/.ssh/id_ecdsa.pub"), []byte("ecdsa-sha2-nistp256 KEY root@host\n"), 0o600)
	})
}

func TestStartBootstrapMakesTheHostAControlPlane(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t, nil)
	services(h, t)
	s.files["bootstrap.ign"] = bootstrapIgnition()
	h.write(t, "/etc/motd", "hello\n")
	h.write(t, "/etc/systemd/system/bad.service", "[Unit]\n")
	i := newInstaller(s, h, nil)
	for range 2 { // doing it again changes nothing
		require.NoError(t, i.StartBootstrap(t.Context(), bootstrap(3)))
	}
	require.Equal(t, []string{
		"systemctl daemon-reload", "systemctl mask bad.service", "systemctl enable kubelet.service",
		"ssh-keygen -q -t ecdsa -b 256 -N  -f /root/.ssh/id_ecdsa",
		"systemctl restart NetworkManager.service",
		"systemctl start bootkube.service approve-csr.service progress.service",
	}, h.Lines()[:6])
	require.JSONEq(t, `{"auths":{}}`, h.read(t, "/root/.docker/config.json"))
	require.Equal(t, "#!/bin/bash\n", h.read(t, "/usr/local/bin/bootkube.sh"))
	require.Equal(t, "hello\nwelcome\n", h.read(t, "/etc/motd"))
	require.Equal(t, "ssh-ed25519 AAA\nssh-ed25519 BBB\n", h.read(t, "/home/core/.ssh/authorized_keys.d/ignition"))
	require.Equal(t, "[Service]\n", h.read(t, "/etc/systemd/system/bootkube.service.d/10-a.conf"))
	require.NoFileExists(t, h.root.Path("/etc/systemd/system/bad.service"))
	info, err := os.Stat(h.root.Path("/usr/local/bin/bootkube.sh"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o555), info.Mode().Perm())
	target, err := os.Readlink(h.root.Path("/etc/zone"))
	require.NoError(t, err)
	require.Equal(t, "/usr/share/zone/UTC", target)
	require.Contains(t, h.read(t, "/opt/openshift/openshift/99-assisted-installer-master-ssh.yaml"), "- ecdsa-sha2-nistp256 KEY root@host\n")
}

func TestStartBootstrapAddsTheController(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t, nil)
	services(h, t)
	s.files["bootstrap.ign"] = bootstrapIgnition()
	req := bootstrap(3)
	req.ServiceIps = []string{"192.0.2.9"}
	i := newInstaller(s, h, nil, func(o *installer.Options) { o.CACert = "/etc/pki/service.crt" })
	require.NoError(t, i.StartBootstrap(t.Context(), req))

	manifests := map[string]map[string]any{}
	entries, err := os.ReadDir(h.root.Path("/opt/openshift/manifests"))
	require.NoError(t, err)
	for _, e := range entries {
		var object map[string]any
		require.NoError(t, yaml.UnmarshalStrict([]byte(h.read(t, "/opt/openshift/manifests/"+e.Name())), &object), e.Name())
		manifests[object["kind"].(string)] = object
	}
	require.Len(t, manifests, 7)
	data := manifests["ConfigMap"]["data"].(map[string]any)
	require.Equal(t, clusterID.String(), data["cluster-id"])
	require.Equal(t, s.URL, data["inventory-url"])
	require.Equal(t, "3", data["control-plane-count"])
	require.Equal(t, map[string]any{"pull-secret-token": token}, manifests["Secret"]["stringData"])
	pod := manifests["Job"]["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
	container := pod["containers"].([]any)[0].(map[string]any)
	require.Equal(t, "registry/controller:1", container["image"])
	require.Nil(t, container["command"], "the image contains the controller")
	require.Len(t, container["env"], 11)
	require.Len(t, container["volumeMounts"], 4)
	require.Len(t, pod["hostAliases"], 1)
}

func TestStartBootstrapNamesANamelessHost(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{"localhost\n": 1, "Master_0\n": 1, "": 1, "master-0.example.com\n": 0} {
		s, h := newService(t), newHost(t, nil)
		services(h, t)
		s.files["bootstrap.ign"] = bootstrapIgnition()
		h.write(t, "/proc/sys/kernel/hostname", name)
		require.NoError(t, newInstaller(s, h, nil).StartBootstrap(t.Context(), bootstrap(3)))
		require.Equal(t, want, h.Count("hostnamectl set-hostname host-33333333"), "%q", name)
	}
}

// layered is the bootstrap of a release whose live image lacks the tools of a node.
const layered = `{"ignition":{"version":"3.2.0"},"systemd":{"units":[{"name":"node-image-overlay.service","contents":"[Unit]\n"}]}}`

func TestStartBootstrapOverlaysTheNodeImageOnSmallLiveImages(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t, nil)
	services(h, t)
	s.files["bootstrap.ign"] = layered
	units := systemd{"node-image-pull.service": "activating success", "node-image-overlay.service": "inactive success"}
	h.On("systemctl show", units.show)
	i := newInstaller(s, h, nil, script(t, func() { units["node-image-overlay.service"] = "active success" }))
	require.NoError(t, i.StartBootstrap(t.Context(), bootstrap(3)))
	lines := h.Lines()
	const show = "systemctl show --property=Id,ActiveState,Result "
	require.Equal(t, []string{
		"systemctl start --no-block node-image-pull.service node-image-overlay.service",
		show + "node-image-overlay.service",
		show + "node-image-pull.service node-image-overlay.service",
		show + "node-image-overlay.service",
		"systemctl start bootkube.service approve-csr.service progress.service",
	}, lines[len(lines)-5:])
	h.write(t, "/usr/bin/oc", "")
	require.NoError(t, i.StartBootstrap(t.Context(), bootstrap(3)))
	require.Equal(t, 1, h.Count("systemctl start --no-block"))
}

func TestStartBootstrapTellsWhatWentWrong(t *testing.T) {
	t.Parallel()
	t.Run("the file is missing", func(t *testing.T) {
		t.Parallel()
		err := newInstaller(newService(t), newHost(t, nil), nil).StartBootstrap(t.Context(), bootstrap(3))
		require.ErrorContains(t, err, "fetch bootstrap.ign")
	})
	t.Run("the config fetches contents", func(t *testing.T) {
		t.Parallel()
		s := newService(t)
		s.files["bootstrap.ign"] = `{"ignition":{"version":"3.1.0"},"storage":{"files":[{"path":"/a","contents":{"source":"http://x/a"}}]}}`
		err := newInstaller(s, newHost(t, nil), nil).StartBootstrap(t.Context(), bootstrap(3))
		require.ErrorContains(t, err, "write file /a: require contents in the config")
	})
	t.Run("a service does not start", func(t *testing.T) {
		t.Parallel()
		s, h := newService(t), newHost(t, nil)
		services(h, t)
		h.On("systemctl start", hostexectest.Fails(1, "Job for bootkube.service failed"))
		s.files["bootstrap.ign"] = bootstrapIgnition()
		err := newInstaller(s, h, nil).StartBootstrap(t.Context(), bootstrap(3))
		require.ErrorContains(t, err, "start the bootstrap services")
	})
}

func TestStartBootstrapMakesAnSSHKeyAgainThatWasCutOff(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t, nil)
	services(h, t)
	makes := func(_ context.Context, c hostexec.Cmd) (hostexec.Result, error) {
		if _, err := os.Stat(h.root.Path("/root/.ssh/id_ecdsa")); err == nil {
			return hostexec.Result{}, errors.New("asks whether to overwrite the key")
		}
		return hostexec.Result{}, os.WriteFile(h.root.Path("/root/.ssh/id_ecdsa.pub"), []byte("ecdsa-sha2-nistp256 KEY\n"), 0o600)
	}
	h.On("ssh-keygen", makes)
	h.write(t, "/root/.ssh/id_ecdsa", "half a ke")
	s.files["bootstrap.ign"] = bootstrapIgnition()
	require.NoError(t, newInstaller(s, h, nil).StartBootstrap(t.Context(), bootstrap(3)))
	require.FileExists(t, h.root.Path("/opt/openshift/openshift/99-assisted-installer-master-ssh.yaml"))
}
