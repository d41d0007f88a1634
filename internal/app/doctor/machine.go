package doctor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"golang.org/x/sys/unix"

	"slipway/internal/app/settings"
	"slipway/internal/platform/guard"
	"slipway/internal/platform/postgres"
)

// ThisMachine reads the machine that the process runs on.
func ThisMachine() Machine {
	return Machine{Clock: clockOfKernel, Free: freeBytes, Descriptors: openFiles, Resolve: resolve, Own: guard.OwnAddresses}
}

// clockOfKernel asks adjtimex(2), whose state is TIME_ERROR while nothing keeps the clock right.
func clockOfKernel() (bool, error) {
	state, err := unix.Adjtimex(&unix.Timex{})
	if err != nil {
		return false, fmt.Errorf("ask the kernel for its clock: %w", err)
	}
	return state != unix.TIME_ERROR, nil
}

func freeBytes(folder string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return 0, fmt.Errorf("ask for the free space of %s: %w", folder, err)
	}
	return s.Bavail * uint64(s.Bsize), nil //nolint:gosec // a size is positive
}

// openFiles reads proc(5), /proc/PID/limits; its numbers are the soft and the hard limit, and Go raises the soft one.
func openFiles(pid int) (uint64, error) {
	file, err := os.Open(fmt.Sprintf("/proc/%d/limits", pid))
	if err != nil {
		return 0, err
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if numbers, found := strings.CutPrefix(lines.Text(), "Max open files"); found {
			if fields := strings.Fields(numbers); len(fields) >= 2 {
				return strconv.ParseUint(fields[1], 10, 64)
			}
		}
	}
	return 0, errors.New("/proc has no limit of open files")
}

func resolve(ctx context.Context, name string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
}

const (
	// leastFree bytes let a service start, and enoughFree hold the live images and logs of some installations.
	leastFree  = 2 << 30
	enoughFree = 20 << 30
)

func (e *examination) dataFolder(context.Context) {
	const check = "data folder"
	folder := e.Settings.DataDir
	switch info, err := os.Stat(folder); {
	case errors.Is(err, fs.ErrNotExist):
		e.ok(check, folder+" is made by the first start")
		for folder = filepath.Dir(folder); ; folder = filepath.Dir(folder) {
			if _, err := os.Stat(folder); err == nil {
				break
			}
		}
	case err != nil:
		e.problem(check, err.Error(), "let the user of the service read it")
		return
	case !info.IsDir():
		e.problem(check, folder+" is no folder", "name another one with --data-dir")
		return
	default:
		if err := unix.Access(folder, unix.R_OK|unix.W_OK|unix.X_OK); err != nil {
			e.problem(check, folder+": "+err.Error(), "run slipway doctor as the user of the service or as root, or give the folder to that user")
			return
		}
		e.ok(check, folder)
	}
	e.space("disk", folder)
	if images := e.Settings.ImageDir; images != "" {
		if _, err := os.Stat(images); err != nil {
			e.problem("image folder", err.Error(), "make it, or name another one with --image-dir")
			return
		}
		e.space("disk of images", images)
	}
}

func (e *examination) space(check, folder string) {
	free, err := e.Machine.Free(folder)
	found := fmt.Sprintf("%s free for %s", humanize.IBytes(free), folder)
	const do = "make room, or put live images elsewhere with --image-dir: one has 1.2 GiB"
	switch {
	case err != nil:
		e.warning(check, err.Error(), "look with df")
	case free < leastFree:
		e.problem(check, found, do)
	case free < enoughFree:
		e.warning(check, found, do)
	default:
		e.ok(check, found)
	}
}

func (e *examination) clock(context.Context) {
	const check = "clock"
	switch right, err := e.Machine.Clock(); {
	case err != nil:
		e.warning(check, err.Error(), "")
	case !right:
		e.warning(check, "the kernel's clock is not synchronised: hosts whose clocks differ by more than 4 minutes are not installed",
			"run chronyd or systemd-timesyncd on this machine")
	default:
		e.ok(check, "synchronised")
	}
}

func (e *examination) descriptors(context.Context) {
	const check = "open files"
	pid, whose := os.Getpid(), "of this shell"
	if text, err := os.ReadFile(filepath.Join(e.Settings.DataDir, "slipway.lock")); err == nil && e.listens {
		if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			pid, whose = n, "of the service"
		}
	}
	most, err := e.Machine.Descriptors(pid)
	need := uint64(max(e.Settings.Max, 0)) + settings.OwnDescriptors
	switch {
	case err != nil:
		e.warning(check, err.Error(), "")
	case most < need:
		e.warning(check, fmt.Sprintf("the limit %s is %d, and --max-connections %d needs %d", whose, most, e.Settings.Max, need),
			"raise it (LimitNOFILE of the unit, ulimit -n), or lower --max-connections")
	default:
		e.ok(check, fmt.Sprintf("the limit %s is %d", whose, most))
	}
}

// architectures lists the architectures of hosts.
var architectures = []string{"amd64", "arm64", "ppc64le", "s390x"}

func (e *examination) programs(context.Context) {
	const check = "programs"
	folder, err := settings.ProgramFolder(e.Settings.AgentBinaries)
	if err != nil {
		e.problem(check, err.Error(), "")
		return
	}
	var have, lack []string
	for _, architecture := range architectures {
		for _, program := range []string{"slipway-agent-", "slipway-controller-"} {
			if _, err := os.Stat(filepath.Join(folder, program+architecture)); err != nil {
				lack = append(lack, program+architecture)
			} else {
				have = append(have, program+architecture)
			}
		}
	}
	const do = "put them there (make build), or name their folder with --agent-binaries"
	switch {
	case len(have) == 0:
		e.problem(check, "no programs for hosts and new clusters in "+folder, do)
	case len(lack) > 0:
		e.warning(check, "hosts and clusters of some architectures cannot be installed: "+strings.Join(lack, ", ")+" not in "+folder, do)
	default:
		e.ok(check, "for "+strings.Join(architectures, ", ")+" in "+folder)
	}
}

// files checks that what belongs together is there together. Only the service compares contents with the database.
func (e *examination) files(context.Context) {
	const check = "files"
	dir := e.Settings.DataDir
	cluster := filepath.Join(dir, "postgres", "PG_VERSION")
	if _, err := os.Stat(cluster); err != nil || e.Settings.DatabaseURL != "" {
		return // a first start makes them; a database elsewhere is compared at the start
	}
	needed := []string{e.Settings.Path(dir, e.Process.Env)}
	if e.Settings.AuthType != "none" && e.Settings.PrivateKey == "" && e.Settings.PublicKey == "" {
		needed = append(needed, filepath.Join(dir, "token.key"))
	}
	if !e.Settings.PlainHTTP && e.Settings.TLSCert == "" {
		needed = append(needed, filepath.Join(dir, "tls", "ca.pem"), filepath.Join(dir, "tls", "ca.key"))
	}
	lacking := false
	for _, path := range needed {
		if _, err := os.Stat(path); err != nil {
			lacking = true
			e.problem(check, path+" is missing beside a database that was used with it", "restore it from the backup: docs/engine.md, Backup")
		}
	}
	if !lacking {
		e.ok(check, "keys, token key and authority are beside the database")
	}
}

// programsOfPostgres checks the bundled database before it is started.
func (e *examination) programsOfPostgres() {
	found, err := postgres.Installed(e.Settings.DataDir, e.Settings.PostgresUser)
	if err != nil {
		e.problem("PostgreSQL", err.Error(), "or name a server with --database-url")
		return
	}
	e.ok("PostgreSQL", found)
}
