// Package standin is a program that stands in for openshift-install: the same commands, files and shapes, none
// of the weight. It reads an install-config by the rules of the real one and knows none of the code that wrote
// it, so that a fault there shows. What it follows is openshift/installer, release-4.14 to release-4.20: exit codes
// in cmd/openshift-install/create.go, the folder in pkg/asset/store/store.go, rules in pkg/types/validation, manifests
// in pkg/asset/manifests and pkg/asset/machines.
package standin

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Exit codes of the real program.
const (
	exitOK            = 0
	exitFailure       = 1
	exitInstallConfig = 3
)

// Builds of the program: the image installer holds a static one, baremetal-installer one that is linked
// against the libraries of RHEL and able to use its FIPS module (openshift/installer, images/).
const (
	BuildStatic  = "static"
	BuildDynamic = "dynamic"
)

// Variables of the environment that tell the program which one it is, and its machine. The real program has
// the first two compiled in.
const (
	VariableVersion = "STANDIN_VERSION"
	VariableBuild   = "STANDIN_BUILD"
	VariableFIPS    = "STANDIN_HOST_FIPS"
)

// Call is one run of the program.
type Call struct {
	Args   []string  // without the name of the program
	Env    []string  // KEY=value
	Now    time.Time // certificates begin here
	Stdout io.Writer
	Stderr io.Writer
	// Bootstrap makes the config of the bootstrap host; nil: one that is only shaped like
	// a real one.
	Bootstrap func(Cluster) ([]byte, error)
}

// run holds the input and output of a command.
type run struct {
	dir     string
	release string // image the cluster runs
	invoker string
	version string // of the release, like 4.20.33
	minor   int
	build   string // BuildStatic or BuildDynamic
	// hostFIPS: the machine is in FIPS mode. skipHostCrypt: it is not looked at.
	hostFIPS, skipHostCrypt bool
	now                     time.Time
	log                     *slog.Logger
	// nodeIP is the address of the bootstrap host, for its kubelet; empty: kubelet finds one.
	nodeIP string
	// starter is Call.Bootstrap.
	starter func(Cluster) ([]byte, error)
}

// commands by their arguments.
var commands = map[string]func(*run) error{
	"create manifests":                   (*run).createManifests,
	"create ignition-configs":            (*run).createIgnitionConfigs,
	"create single-node-ignition-config": (*run).createSingleNodeConfig,
}

// errInstallConfig marks an install-config that cannot be used.
var errInstallConfig = errors.New(
	"failed to fetch Master Machines: failed to load asset \"Install Config\": failed to create install config")

// Main runs the program and returns its exit code.
func Main(c Call) int {
	words, dir, err := arguments(c.Args)
	if err != nil {
		_, _ = fmt.Fprintln(c.Stderr, "Error:", err)
		return exitFailure
	}
	r := &run{
		dir:     dir,
		release: variable(c.Env, "OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE"),
		invoker: cmp.Or(variable(c.Env, "OPENSHIFT_INSTALL_INVOKER"), "user"),
		version: variable(c.Env, VariableVersion),
		build:   cmp.Or(variable(c.Env, VariableBuild), BuildStatic),
		now:     c.Now,
		starter: c.Bootstrap,
	}
	r.hostFIPS = variable(c.Env, VariableFIPS) == "1"
	r.skipHostCrypt = variable(c.Env, "OPENSHIFT_INSTALL_SKIP_HOSTCRYPT_VALIDATION") != ""
	if r.minor, err = minorOf(r.version); err != nil {
		_, _ = fmt.Fprintln(c.Stderr, "Error:", err)
		return exitFailure
	}
	command := strings.Join(words, " ")
	if command == "version" {
		_, _ = fmt.Fprintln(c.Stdout, "openshift-install stand-in\nrelease image", r.release)
		return exitOK
	}
	do, ok := commands[command]
	if !ok {
		_, _ = fmt.Fprintf(c.Stderr, "Error: unknown command %q for \"openshift-install\"\n", command)
		return exitFailure
	}
	logFile, err := os.OpenFile(filepath.Join(dir, ".openshift_install.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o640)
	if err != nil {
		_, _ = fmt.Fprintln(c.Stderr, "Error:", err)
		return exitFailure
	}
	defer func() { _ = logFile.Close() }()
	r.log = slog.New(slog.NewTextHandler(io.MultiWriter(c.Stderr, logFile), &slog.HandlerOptions{ReplaceAttr: plainLog}))
	return r.exit(r.start(do, c.Env))
}

// start looks at what every command depends on. Without the image of a release the real program takes one of
// the builds of its developers, which no cluster of a user runs; so this one fails.
func (r *run) start(do func(*run) error, env []string) error {
	if r.release == "" {
		return errors.New("release image registry.ci.openshift.org/origin/release: OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE is not set")
	}
	if !namedImage.MatchString(r.release) {
		return fmt.Errorf("failed to parse release image %q: repository name must be canonical", r.release)
	}
	r.log.Warn("Found override for release image (" + r.release + "). Please be warned, this is not advised")
	if ip := variable(env, "OPENSHIFT_INSTALL_BOOTSTRAP_NODE_IP"); ip != "" {
		if _, err := netip.ParseAddr(ip); err != nil {
			r.log.Warn(fmt.Sprintf("OPENSHIFT_INSTALL_BOOTSTRAP_NODE_IP must have valid ip address, given %s. Skipping it", ip))
		} else {
			r.nodeIP = ip
		}
	}
	return do(r)
}

// namedImage is an image with its registry, and a tag or a digest.
var namedImage = regexp.MustCompile(`^[A-Za-z0-9.-]+(:[0-9]+)?/[^@:]+(:[A-Za-z0-9_.-]+)?(@sha256:[0-9a-f]{64})?$`)

func (r *run) exit(err error) int {
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errInstallConfig):
		r.fail(err)
		return exitInstallConfig
	}
	r.fail(err)
	return exitFailure
}

// fail logs an error, a line of it at a time.
func (r *run) fail(err error) {
	for line := range strings.SplitSeq(err.Error(), "\n") {
		r.log.Error(line)
	}
}

// plainLog makes lines like the real program's: level=info msg="...".
func plainLog(groups []string, a slog.Attr) slog.Attr {
	switch {
	case len(groups) > 0:
	case a.Key == slog.TimeKey:
		return slog.Attr{}
	case a.Key == slog.LevelKey:
		a.Value = slog.StringValue(levels[a.Value.String()])
	}
	return a
}

// arguments separates the words of a command from its options.
func arguments(args []string) (words []string, dir string, err error) {
	dir = "."
	for i := 0; i < len(args); i++ {
		name, value, found := strings.Cut(args[i], "=")
		if !strings.HasPrefix(name, "--") {
			words = append(words, args[i])
			continue
		}
		if !slices.Contains([]string{"--dir", "--log-level"}, name) {
			return nil, "", fmt.Errorf("unknown flag: %s", name)
		}
		if !found {
			if i++; i == len(args) {
				return nil, "", fmt.Errorf("flag needs an argument: %s", name)
			}
			value = args[i]
		}
		if name == "--dir" {
			dir = value
		}
	}
	return words, dir, nil
}

func variable(env []string, name string) string {
	for _, e := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(e, name+"="); ok {
			return value
		}
	}
	return ""
}

// files that a command writes, by path below its folder.
type files map[string][]byte

// write puts files below the folder; secrets are among them.
func (r *run) write(all files) error {
	for path, data := range all {
		full := filepath.Join(r.dir, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o750); err != nil {
			return fmt.Errorf("create folder: %w", err)
		}
		if err := os.WriteFile(full, data, 0o640); err != nil {
			return fmt.Errorf("write asset: %w", err)
		}
	}
	return nil
}

// levels are the names that the real program's log has for them.
var levels = map[string]string{"DEBUG": "debug", "INFO": "info", "WARN": "warning", "ERROR": "error"}
