package release

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"sigs.k8s.io/yaml"

	"slipway/internal/model"
	"slipway/internal/platform/filelock"
)

// maxOutput bounds one generated file, in bytes.
const maxOutput = 64 << 20

// invoker is how the cluster records what installed it; the in-cluster controller and support tools read it.
const invoker = "assisted-installer"

// emptyConfig is the config of a role whose nodes are not installed by one.
const emptyConfig = `{"ignition":{"version":"3.2.0"}}`

// GenerateInput is the input from which the configs of a cluster are generated.
type GenerateInput struct {
	InstallConfig []byte // YAML or JSON
	// Manifests are the user's and the service's, by folder and name: "openshift/99-mine.yaml". Names that
	// contain ".patch" change generated manifests.
	Manifests  map[string][]byte
	SingleNode bool
	// BootstrapNodeIP is the address of the bootstrap host; the zero value leaves it out.
	BootstrapNodeIP netip.Addr
}

// Output holds the installer's files. Everything but Log is secret.
type Output struct {
	Bootstrap, Master, Worker []byte // Ignition configs
	Arbiter                   []byte // nil without arbiters
	Kubeconfig                []byte
	KubeadminPassword         model.Secret
	Metadata                  []byte // metadata.json
	// Log is the installer's output, without secrets.
	Log string
}

// Generate runs the installer in a private folder, which is removed afterwards. A failure of the installer is a
// *GenerateError; an unusable manifest is a model.ErrInvalid that names it.
func (i *Installer) Generate(ctx context.Context, in GenerateInput) (*Output, error) {
	facts, err := readFacts(in.InstallConfig)
	if err != nil {
		return nil, err
	}
	sorted, err := sortManifests(in.Manifests)
	if err != nil {
		return nil, err
	}
	var out *Output
	err = i.inFolder(ctx, facts.PullSecret, func(ctx context.Context, g *generation) error {
		g.in, g.facts, g.manifests = in, facts, sorted
		out, err = g.run(ctx)
		return err
	})
	return out, err
}

// inFolder runs the installer in a private folder, which is removed afterwards. It waits until fewer than Options.Runs others
// run; the wait does not count as its time.
func (i *Installer) inFolder(ctx context.Context, pullSecret string, run func(context.Context, *generation) error) error {
	select {
	case i.releases.runs <- struct{}{}:
		defer func() { <-i.releases.runs }()
	case <-ctx.Done():
		return fmt.Errorf("wait for other installers: %w", context.Cause(ctx))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, i.releases.opts.RunTimeout,
		fmt.Errorf("took longer than %s", i.releases.opts.RunTimeout))
	defer cancel()
	lock, err := filelock.Shared(ctx, i.releases.workLock)
	if err != nil {
		return err
	}
	defer lock.Release()
	user, giveBack, err := i.releases.user(ctx)
	if err != nil {
		return err
	}
	defer giveBack()
	dir, err := os.MkdirTemp(i.releases.work, "generate-")
	if err != nil {
		return fmt.Errorf("make folder for installer: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	g := &generation{installer: i, dir: dir, user: user, mask: newMask(pullSecret)}
	for _, d := range []string{"assets", "home", "tmp", "root"} {
		d = filepath.Join(dir, d)
		if err := errors.Join(os.Mkdir(d, privateFolder), user.give(d)); err != nil {
			return fmt.Errorf("make folder for installer: %w", err)
		}
	}
	if err := user.give(dir); err != nil {
		return fmt.Errorf("give folder to installer: %w", err)
	}
	if g.assets, err = openFolder(filepath.Join(dir, "assets"), user); err != nil {
		return fmt.Errorf("make folder for installer: %w", err)
	}
	defer g.assets.close()
	return run(ctx, g)
}

// facts are the parts of an install-config that the generation depends on.
type facts struct {
	PullSecret string `json:"pullSecret"`
	Compute    []struct {
		Replicas int `json:"replicas"`
	} `json:"compute"`
	Platform map[string]any `json:"platform"`
}

func readFacts(installConfig []byte) (facts, error) {
	var f facts
	if err := yaml.Unmarshal(installConfig, &f); err != nil {
		return f, model.Invalidf("require an install-config in YAML: %s", err)
	}
	return f, nil
}

func (f facts) oneWorker() bool { return len(f.Compute) > 0 && f.Compute[0].Replicas == 1 }

// generation is one run.
type generation struct {
	installer *Installer
	in        GenerateInput
	facts     facts
	manifests sortedManifests
	dir       string
	user      *User // nil: the user of this process
	assets    *folder
	log       tail
	mask      mask
}

func (g *generation) run(ctx context.Context) (*Output, error) {
	if err := g.assets.write("install-config.yaml", g.in.InstallConfig); err != nil {
		return nil, fmt.Errorf("write install-config: %w", err)
	}
	if err := g.command(ctx, "create", "manifests"); err != nil {
		return nil, err
	}
	if err := g.removeMachines(); err != nil {
		return nil, err
	}
	if err := g.changeManifests(); err != nil {
		return nil, err
	}
	if !g.in.SingleNode {
		if err := g.command(ctx, "create", "ignition-configs"); err != nil {
			return nil, err
		}
		return g.output("bootstrap.ign", "master.ign", "worker.ign")
	}
	if err := g.command(ctx, "create", "single-node-ignition-config"); err != nil {
		return nil, err
	}
	// The node writes its own config once the control plane runs on it.
	return g.output("bootstrap-in-place-for-live-iso.ign", "", "")
}

// command runs a command of the installer: create, and what.
func (g *generation) command(ctx context.Context, words ...string) error {
	args := append(slices.Clone(words), "--dir", filepath.Join(g.dir, "assets"), "--log-level", "info")
	p := process{
		path: g.installer.program.path, args: args, env: g.environment(), dir: g.dir, output: &g.log, user: g.user,
		namespaces: syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC,
	}
	if words[0] == "create" {
		p.namespaces |= syscall.CLONE_NEWNET // these commands ask nothing of the network
	}
	p.box, p.strict = g.box(p.namespaces&syscall.CLONE_NEWNET == 0), g.installer.releases.opts.Sandbox == SandboxRequired
	err := execute(ctx, p)
	if err == nil {
		return nil
	}
	return g.failure(ctx, strings.Join(words, " "), err)
}

// environment returns the installer's whole environment: no variable of the service's own leaks into it.
func (g *generation) environment() []string {
	env := []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=" + filepath.Join(g.dir, "home"),
		"TMPDIR=" + filepath.Join(g.dir, "tmp"),
		"OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE=" + g.installer.Release.PullSpec,
		"OPENSHIFT_INSTALL_INVOKER=" + invoker,
	}
	if g.in.BootstrapNodeIP.IsValid() {
		env = append(env, "OPENSHIFT_INSTALL_BOOTSTRAP_NODE_IP="+g.in.BootstrapNodeIP.String())
	}
	return append(env, g.installer.releases.opts.Environment...)
}

// output collects the files of the installer; the names of Ignition configs that it
// does not write are empty.
func (g *generation) output(bootstrap, master, worker string) (*Output, error) {
	out := &Output{Master: []byte(emptyConfig), Worker: []byte(emptyConfig)}
	var password []byte
	for _, f := range []struct {
		name string
		to   *[]byte
	}{
		{bootstrap, &out.Bootstrap},
		{master, &out.Master},
		{worker, &out.Worker},
		{"auth/kubeconfig", &out.Kubeconfig},
		{"auth/kubeadmin-password", &password},
		{"metadata.json", &out.Metadata},
	} {
		if f.name == "" {
			continue
		}
		data, err := g.assets.read(f.name)
		if err != nil {
			return nil, fmt.Errorf("collect %s of installer: %w", f.name, err)
		}
		*f.to = data
	}
	arbiter, err := g.assets.read("arbiter.ign")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("collect arbiter.ign of installer: %w", err)
	}
	out.Arbiter = arbiter
	out.KubeadminPassword = model.Secret(password)
	out.Log = g.mask.with(string(password)).text(g.log.String())
	return out, nil
}
