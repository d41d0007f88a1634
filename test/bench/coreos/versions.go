package coreos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// suite is the release of Debian that the system is made of. The machine that builds has the same release: Ignition is linked with its
// libraries, and the versions come from its lists of packages.
const suite = "bookworm"

// debianPackage is a package in the version that the package lists of this machine offer.
type debianPackage struct{ Name, Version string }

// requireSuite refuses a machine whose libraries and package lists are of another release.
func requireSuite() error {
	content, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return err
	}
	if !strings.Contains(string(content), "VERSION_CODENAME="+suite) {
		return fmt.Errorf("require Debian %s, found:\n%s", suite, content)
	}
	return nil
}

// kernel returns the package that Debian's newest kernel for virtual machines is in.
func kernel(ctx context.Context) (debianPackage, error) {
	const newest = "linux-image-cloud-amd64"
	out, err := output(ctx, "apt-cache", "show", "--no-all-versions", newest)
	if err != nil {
		return debianPackage{}, err
	}
	for line := range strings.Lines(out) {
		// Depends: linux-image-6.1.0-1-cloud-amd64 (= 6.1.1-1)
		fields := strings.FieldsFunc(strings.TrimSpace(line), func(r rune) bool { return strings.ContainsRune(" ()=", r) })
		if len(fields) == 3 && fields[0] == "Depends:" {
			return debianPackage{fields[1], fields[2]}, nil
		}
	}
	return debianPackage{}, fmt.Errorf("require that %s depends on one kernel, found %q", newest, out)
}

// candidates lists the versions of packages that would be installed now, a line each.
func candidates(ctx context.Context, names []string) (string, error) {
	out, err := output(ctx, "apt-cache", append([]string{"policy"}, names...)...)
	if err != nil {
		return "", err
	}
	var found strings.Builder
	var name string
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 1 && !strings.HasPrefix(line, " "):
			name = strings.TrimSuffix(fields[0], ":")
		case len(fields) == 2 && fields[0] == "Candidate:":
			fmt.Fprintf(&found, "%s %s\n", name, fields[1])
		}
	}
	if n := strings.Count(found.String(), "\n"); n != len(names) || strings.Contains(found.String(), "(none)") {
		return "", fmt.Errorf("require a version of each of %d packages (apt-get update), found:\n%s", len(names), found.String())
	}
	return found.String(), nil
}

// goModule is a module in the version that this repository uses.
type goModule struct{ Version, Dir string }

func ignitionModule(ctx context.Context) (goModule, error) {
	const name = "github.com/coreos/ignition/v2"
	var module goModule
	// In the module cache it is checked against this repository's go.sum.
	if _, err := output(ctx, "go", "mod", "download", name); err != nil {
		return module, err
	}
	out, err := output(ctx, "go", "list", "-m", "-json", name)
	if err != nil {
		return module, err
	}
	if err := json.Unmarshal([]byte(out), &module); err != nil {
		return module, fmt.Errorf("read where %s is: %w", name, err)
	}
	return module, nil
}

func output(ctx context.Context, name string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, name, args...).Output() //nolint:gosec // this package's own commands
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, tail(exit.Stderr))
		}
		return "", fmt.Errorf("run %s %s: %w", name, strings.Join(args, " "), err)
	}
	return string(out), nil
}
