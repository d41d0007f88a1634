package helm_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"slipway/test/built"
	"slipway/test/hub"
)

// node runs pods as processes, as a kubelet would: each in a root of its own that it cannot write, with the volumes, user, groups and
// variables of its template. Networks and limits are the machine's.
type node struct {
	binary string
	// secrets and settings are the contents of Secrets and ConfigMaps by their names.
	contents map[string]map[string][]byte
	// files lists folders of the machine that pods find at the same path.
	files []string
}

// userOfPods is runAs of the values.
const userOfPods = 65532

// start runs the container of a pod. The process ends with the test.
func (n *node) start(t *testing.T, p pod) *hub.Process {
	t.Helper()
	folder := built.Folder(t, "pod")
	root := filepath.Join(folder, "root")
	var script strings.Builder
	fmt.Fprintf(&script, "set -e\nmount --make-rprivate /\nmkdir -p %[1]s\nmount -t tmpfs -o mode=0755 root %[1]s\n", root)
	for _, name := range []string{"usr", "etc/ssl", "proc", "dev"} {
		n.bind(&script, "/"+name, root+"/"+name, true)
	}
	for _, name := range []string{"lib", "lib64", "bin"} { // links to /usr on a merged system
		fmt.Fprintf(&script, "ln -s usr/%s %s/%[1]s\n", name, root)
	}
	n.bind(&script, filepath.Dir(n.binary), root+"/opt/slipway", true)
	volumes := map[string]string{}
	for _, v := range p.spec.Volumes {
		volumes[v.Name] = n.volume(t, folder, v)
	}
	c := p.container(t)
	mounts := slices.Clone(c.VolumeMounts)
	slices.SortStableFunc(mounts, func(a, b corev1.VolumeMount) int { return strings.Compare(a.MountPath, b.MountPath) })
	for _, mount := range mounts {
		n.bind(&script, filepath.Join(volumes[mount.Name], mount.SubPath), root+mount.MountPath, mount.ReadOnly)
	}
	for _, path := range n.files { // some lie in /tmp, which is a volume
		n.bind(&script, path, root+path, false)
	}
	if *c.SecurityContext.ReadOnlyRootFilesystem {
		fmt.Fprintf(&script, "mount -o remount,bind,ro %s\n", root)
	}
	fmt.Fprintf(&script, "exec chroot %[2]s /usr/bin/setpriv --reuid=%[1]d --regid=%[1]d --groups=%[1]d --no-new-privs --bounding-set=-all "+
		"--inh-caps=-all /opt/slipway/%[3]s %[4]s\n", userOfPods, root, filepath.Base(n.binary), strings.Join(c.Args, " "))
	command := exec.Command("unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script.String()) //nolint:gosec // the test's
	command.Env = n.environment(t, c)
	return hub.Run(t, p.component, filepath.Join(folder, "log"), command)
}

// bind appends a mount of a file or a folder.
func (n *node) bind(script *strings.Builder, from, to string, readOnly bool) {
	fmt.Fprintf(script, "if test -d %[1]s; then mkdir -p %[2]s; else mkdir -p $(dirname %[2]s); test -e %[2]s || touch %[2]s; fi\n"+
		"mount --rbind %[1]s %[2]s\n", from, to)
	if readOnly {
		fmt.Fprintf(script, "mount -o remount,bind,ro %s\n", to)
	}
}

// volume makes the folder of a volume, with the owners and modes that a kubelet gives it because of fsGroup.
func (n *node) volume(t *testing.T, folder string, v corev1.Volume) string {
	t.Helper()
	dir := filepath.Join(folder, "volumes", v.Name)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	var content map[string][]byte
	var items []corev1.KeyToPath
	mode := int32(0o644)
	switch {
	case v.EmptyDir != nil, v.PersistentVolumeClaim != nil:
		require.NoError(t, os.Chown(dir, 0, userOfPods))
		require.NoError(t, os.Chmod(dir, 0o777|os.ModeSetgid))
		return dir
	case v.Secret != nil:
		content, items, mode = n.contents[v.Secret.SecretName], v.Secret.Items, *v.Secret.DefaultMode
	case v.ConfigMap != nil:
		content, items, mode = n.contents[v.ConfigMap.Name], v.ConfigMap.Items, *v.ConfigMap.DefaultMode
	}
	require.NotEmpty(t, content, "the volume %s has nothing to mount", v.Name)
	if items == nil {
		for key := range content {
			items = append(items, corev1.KeyToPath{Key: key, Path: key})
		}
	}
	for _, item := range items {
		require.Contains(t, content, item.Key, v.Name)
		path := filepath.Join(dir, item.Path)
		require.NoError(t, os.WriteFile(path, content[item.Key], 0o600))
		require.NoError(t, os.Chown(path, 0, userOfPods))
		require.NoError(t, os.Chmod(path, os.FileMode(mode))) //nolint:gosec // a mode
	}
	return dir
}

// environment returns the variables of a container.
func (n *node) environment(t *testing.T, c corev1.Container) []string {
	t.Helper()
	env := []string{"PATH=/usr/bin:/usr/sbin", "HOME=/"} // as runc gives a user that has no line in /etc/passwd
	for _, v := range c.Env {
		value := v.Value
		if v.ValueFrom != nil {
			ref := v.ValueFrom.SecretKeyRef
			require.Contains(t, n.contents[ref.Name], ref.Key, v.Name)
			value = string(n.contents[ref.Name][ref.Key])
		}
		env = append(env, v.Name+"="+value)
	}
	return env
}

// exec runs the program with arguments in the container of a pod, as kubectl exec does, and returns what it prints.
func (n *node) exec(t *testing.T, p *hub.Process, args ...string) string {
	t.Helper()
	list, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", p.Process.Pid))
	require.NoError(t, err)
	inside := strings.Fields(string(list))
	require.Len(t, inside, 1)
	id := fmt.Sprint(userOfPods)
	command := exec.Command("nsenter", append([]string{ //nolint:gosec // the test's own
		"--target=" + inside[0], "--mount", "--root", "--wd=/", "/usr/bin/setpriv", "--reuid=" + id, "--regid=" + id, "--clear-groups",
		"/opt/slipway/" + filepath.Base(n.binary),
	}, args...)...)
	command.Env = p.Env
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}
