// Package standin is a program that stands in for openshift-install: the same commands,
// files and shapes, none of the weight. It reads an install-config as strictly as the
// real one and knows none of the code that wrote it, so that a fault there shows.
package standin

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
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

// run is what a command works with.
type run struct {
	dir     string
	release string // image the cluster runs
	invoker string
	now     time.Time
	log     *slog.Logger
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
var errInstallConfig = errors.New("failed to load asset \"Install Config\"")

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
		invoker: variable(c.Env, "OPENSHIFT_INSTALL_INVOKER"),
		now:     c.Now,
		starter: c.Bootstrap,
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
	return r.exit(do(r))
}

func (r *run) exit(err error) int {
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errInstallConfig):
		r.log.Error(err.Error())
		return exitInstallConfig
	}
	r.log.Error(err.Error())
	return exitFailure
}

// plainLog makes lines like those of the real program: level=info msg="...".
func plainLog(groups []string, a slog.Attr) slog.Attr {
	switch {
	case len(groups) > 0:
	case a.Key == slog.TimeKey:
		return slog.Attr{}
	case a.Key == slog.LevelKey:
		a.Value = slog.StringValue(strings.ToLower(a.Value.String()))
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

// files are what a command writes, by path below its folder.
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
