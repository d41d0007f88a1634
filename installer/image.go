package installer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"slipway/internal/platform/hostexec"
	"slipway/internal/wire"
)

// ImageReport is the output of the step image-write.
type ImageReport struct {
	Device string `json:"device"`
}

// WriteImage writes CoreOS and the host's Ignition to the boot device, once, and reports the percentage as it
// increases. It never retries by itself: a half written image may be written again only on a new command.
//
//	coreos-installer install -i /opt/install-dir/ROLE-HOSTID.ign [installer args] DEVICE
//
// The image is the live system's own, which coreos-installer makes out of /run/coreos-installer/osmet and trusts as it trusts the system
// that runs. Any other image, which only the arguments name, needs a signature beside it or --insecure among them
// (coreos/coreos-installer, src/source.rs, require_signature, and src/install.rs).
//
// An image of CoreOS in the request is deployed beside the running system instead; ostree and rpm-ostree run by
// systemd-run --quiet --wait --pipe --collect --unit=slipway-image.service --setenv=VARIABLE... -- COMMAND:
//
//	systemctl stop slipway-image.service
//	mount /sysroot -o remount,rw; mount /boot -o remount,rw
//	[touch /ostree/repo/tmp/node-image; ostree refs --repo /ostree/repo --delete coreos/node-image]   when it is there
//	[ostree admin stateroot-init install]       unless it is there
//	ostree container image deploy --stateroot install --sysroot / --authfile FILE --karg KARG... --image IMAGE
//	ostree admin finalize-staged
//	[rpm-ostree kargs --os install --append KARG... --delete-if-present KARG...; ostree admin finalize-staged]
//	sync --file-system /boot                    before and after /boot/ignition.firstboot is made
func (i *Installer) WriteImage(ctx context.Context, req *wire.InstallCmdRequest) (ImageReport, error) {
	if err := i.awaitDevices(ctx, req); err != nil {
		return ImageReport{}, err
	}
	device, err := i.device(req)
	if err != nil {
		return ImageReport{}, err
	}
	extra, err := installerArgs(req)
	if err != nil {
		return ImageReport{}, err
	}
	if req.CoreosImage != "" {
		if err := i.writeBeside(ctx, req, extra); err != nil {
			return ImageReport{}, fmt.Errorf("install %s beside the running system: %w", req.CoreosImage, i.withoutChatter(err))
		}
		return ImageReport{Device: device}, nil
	}
	args := append([]string{"install", "-i", ignitionPath(req)}, extra...)

	report := i.reportPercent(ctx, req)
	progress, sector := Progress{Report: report.latest}, i.bootSectorOf(device)
	_, err = i.Runner.Run(ctx, hostexec.Cmd{
		Name: "coreos-installer", Args: append(args, device), Env: proxyEnvironment(req.Proxy),
		Output: func(chunk []byte) {
			progress.Write(chunk)
			if err := sector.passOn(progress.last); err != nil {
				i.Log.Warn("a power cut would leave the disk without boot code", "disk", device, "error", err)
				sector = nil
			}
		},
	})
	report.finish()
	if err != nil {
		return ImageReport{}, fmt.Errorf("write the image to %s: %w", device, i.withoutChatter(err))
	}
	if err := sector.check(); err != nil {
		return ImageReport{}, fmt.Errorf("write the image to %s: %w", device, err)
	}
	return ImageReport{Device: device}, nil
}

// withoutChatter keeps what a user needs of a failure of coreos-installer: no progress lines, no successful
// steps, no stack traces, no secrets.
func (i *Installer) withoutChatter(err error) error {
	var exit *hostexec.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	var lines []string
	trace := false
	for line := range strings.FieldsFuncSeq(exit.Stderr, func(r rune) bool { return r == '\r' || r == '\n' }) {
		// A trace is indented; the program's next message is not.
		trace = line == "Stack backtrace:" || trace && strings.HasPrefix(line, " ")
		if !trace && !percentage.MatchString(line) {
			lines = append(lines, line)
		}
	}
	if begin := slices.IndexFunc(lines, tellsCause); begin > 0 {
		lines = lines[begin:]
	}
	clean := *exit
	clean.Stderr = i.redactor().Replace(strings.Join(lines, "\n"))
	return &clean
}

func tellsCause(line string) bool {
	return strings.HasPrefix(line, "Error: ") || strings.HasPrefix(line, "Partitions in use on ")
}

func proxyEnvironment(p wire.Proxy) []string {
	var env []string
	for _, v := range []struct{ name, value string }{
		{"HTTP_PROXY", p.HTTPProxy}, {"HTTPS_PROXY", p.HTTPSProxy}, {"NO_PROXY", p.NoProxy},
	} {
		if v.value != "" {
			env = append(env, v.name+"="+v.value)
		}
	}
	return env
}
