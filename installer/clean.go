package installer

import (
	"context"
	"fmt"
	"slices"
	"time"

	"slipway/internal/platform/hostexec"
	"slipway/internal/wire"
)

// cleanLimit is generous: a thin pool with many volumes is taken apart one by one.
const cleanLimit = 5 * time.Minute

// CleanReport is the output of the step disk-clean.
type CleanReport struct {
	Cleaned  []string `json:"cleaned"`
	Skipped  []string `json:"skipped"`
	Warnings []string `json:"warnings"`
}

func (r *CleanReport) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

// CleanDisk formats the disks of the request and frees its boot device of leftovers: LVM, device mapper, RAID,
// signatures. What could not be removed is a warning: coreos-installer decides whether it can write. An error
// means that ctx ended or that the request is not for this host.
//
//	[each disk to format: dd if=/dev/zero of=DISK bs=512 count=1]
//	lsblk --json --paths --output NAME,KNAME,TYPE,MOUNTPOINT DEVICE
//	pvs --reportformat json --options pv_name,vg_name,vg_uuid
//	[vgremove --yes --force VG] [pvremove --yes --force --force PV]
//	[dmsetup remove --retry NAME] [mdadm --stop MD] [mdadm --zero-superblock MEMBER]
//	[each partition: wipefs --all --force PARTITION]
//	wipefs --all --force DEVICE                 fallback: wipefs --all DEVICE
//	after a failure: lsblk, [dmsetup remove --retry NAME] [mdadm --stop MD] of all that is stacked, and all from lsblk on once more
func (i *Installer) CleanDisk(ctx context.Context, req *wire.InstallCmdRequest) (CleanReport, error) {
	report := CleanReport{Cleaned: []string{}, Skipped: []string{}, Warnings: []string{}}
	if err := i.CheckRequest(req); err != nil {
		return report, err
	}
	disk, err := i.device(req)
	if err != nil {
		return report, err
	}
	if req.CoreosImage != "" {
		report.Skipped = append(report.Skipped, disk+": the image is installed beside what is there")
		return report, nil
	}
	format := req.DisksToFormat
	why, keeps := keepsDisk(req)
	if keeps {
		format = i.apart(ctx, disk, format, &report)
	}
	i.format(ctx, format, &report)
	if keeps {
		report.Skipped = append(report.Skipped, disk+": "+why)
		return report, ctx.Err()
	}
	i.free(ctx, disk, &report)
	return report, ctx.Err()
}

// attempt is one try to free a disk. known holds notes that apply whatever the outcome, failed what could not
// be done.
type attempt struct{ cleaned, known, failed []string }

// free takes a disk out of all use. What cannot be removed at once is taken apart from the top: a group of
// volumes cannot be removed while something uses one of them.
func (i *Installer) free(ctx context.Context, disk string, report *CleanReport) {
	done := i.attempt(ctx, disk)
	if len(done.failed) > 0 && ctx.Err() == nil {
		i.Log.Info("disk not freed at once", "disk", disk, "failed", done.failed)
		if tree, err := i.blocks(ctx, disk); err == nil {
			i.execute(ctx, PlanTeardown(tree), &done)
		}
		again := i.attempt(ctx, disk)
		done = attempt{
			cleaned: union(done.cleaned, again.cleaned), known: union(done.known, again.known), failed: again.failed,
		}
	}
	report.Cleaned = append(report.Cleaned, done.cleaned...)
	report.Warnings = append(append(report.Warnings, done.known...), done.failed...)
}

func (i *Installer) attempt(ctx context.Context, disk string) attempt {
	var a attempt
	tree, err := i.blocks(ctx, disk)
	if err != nil {
		a.known = append(a.known, fmt.Sprintf("could not look at %s: %s", disk, err))
		tree = Block{Name: disk, Kernel: disk, Type: "disk"}
	}
	var volumes []PhysicalVolume
	if err == nil {
		if volumes, err = i.volumes(ctx); err != nil && !hostexec.Missing(err) {
			a.known = append(a.known, fmt.Sprintf("could not list the physical volumes: %s", err))
		}
	}
	plan := PlanCleanup(tree, volumes)
	a.known = append(a.known, plan.Warnings...)
	i.execute(ctx, plan, &a)
	return a
}

func union(some, more []string) []string {
	return append(some, slices.DeleteFunc(more, func(text string) bool { return slices.Contains(some, text) })...)
}

// format overwrites the partition tables of disks a user wants emptied.
func (i *Installer) format(ctx context.Context, disks []string, report *CleanReport) {
	for _, disk := range disks {
		err := i.clean(ctx, "dd", "if=/dev/zero", "of="+disk, "bs=512", "count=1")
		if err != nil {
			report.warn("could not format %s: %s", disk, err)
			continue
		}
		report.Cleaned = append(report.Cleaned, "partition table of "+disk)
	}
}

// blocks reads a disk and what is stacked on it.
func (i *Installer) blocks(ctx context.Context, disk string) (Block, error) {
	text, err := i.look(ctx, "lsblk", "--json", "--paths", "--output", "NAME,KNAME,TYPE,MOUNTPOINT", disk)
	if err != nil {
		return Block{}, err
	}
	return ParseBlocks(text)
}

// volumes lists the physical volumes of the host.
func (i *Installer) volumes(ctx context.Context) ([]PhysicalVolume, error) {
	text, err := i.look(ctx, "pvs", "--reportformat", "json", "--options", "pv_name,vg_name,vg_uuid")
	if err != nil {
		return nil, err
	}
	return ParsePhysicalVolumes(text)
}

func (i *Installer) execute(ctx context.Context, plan CleanPlan, a *attempt) {
	for _, action := range plan.Actions {
		err := i.clean(ctx, action.Argv...)
		if err != nil && action.Fallback != nil && ctx.Err() == nil {
			err = i.clean(ctx, action.Fallback...)
		}
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			a.failed = append(a.failed, fmt.Sprintf("could not remove %s: %s", action.What, err))
			continue
		}
		a.cleaned = append(a.cleaned, action.What)
	}
}

// clean runs a command that frees a disk.
func (i *Installer) clean(ctx context.Context, argv ...string) error {
	_, err := i.look(ctx, argv...)
	return err
}

// look runs a command that queries disks, which may not answer: LVM queries all of the host.
func (i *Installer) look(ctx context.Context, argv ...string) (string, error) {
	ctx, cancel := within(ctx, i.CleanLimit)
	defer cancel()
	return i.output(ctx, argv...)
}

// within bounds a command that must not delay the installation.
func within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, limit, fmt.Errorf("no end after %s", limit))
}

// command runs a command of the host for its effect.
func (i *Installer) command(ctx context.Context, argv ...string) error {
	_, err := i.Runner.Run(ctx, hostexec.Cmd{Name: argv[0], Args: argv[1:]})
	return err
}

// output runs a command of the host for what it prints.
func (i *Installer) output(ctx context.Context, argv ...string) (string, error) {
	result, err := i.Runner.Run(ctx, hostexec.Cmd{Name: argv[0], Args: argv[1:]})
	return result.Stdout, err
}
