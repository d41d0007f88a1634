package installer

import (
	"context"
	"fmt"

	"slipway/internal/run"
	"slipway/internal/wire"
)

// CleanReport is the output of the step disk-clean.
type CleanReport struct {
	Cleaned  []string `json:"cleaned"`
	Skipped  []string `json:"skipped"`
	Warnings []string `json:"warnings"`
}

func (r *CleanReport) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

// CleanDisk formats the disks of the request and frees its boot device of what an
// earlier life left: LVM, device mapper, RAID, signatures. What could not be removed is
// a warning: coreos-installer decides whether it can write. An error says that ctx ended
// or that the request is not for this host.
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
	i.format(ctx, req.DisksToFormat, &report)
	if req.SkipInstallationDiskCleanup {
		report.Skipped = append(report.Skipped, disk+": cleanup was switched off")
		return report, ctx.Err()
	}
	plan, err := i.planCleanup(ctx, disk, &report)
	if err != nil {
		report.warn("could not look at %s: %s", disk, err)
		plan = PlanCleanup(Block{Name: disk, Kernel: disk, Type: "disk"}, nil)
	}
	i.execute(ctx, plan, &report)
	return report, ctx.Err()
}

// format overwrites the partition tables of disks a user wants emptied.
func (i *Installer) format(ctx context.Context, disks []string, report *CleanReport) {
	for _, disk := range disks {
		err := i.command(ctx, "dd", "if=/dev/zero", "of="+disk, "bs=512", "count=1")
		if err != nil {
			report.warn("could not format %s: %s", disk, err)
			continue
		}
		report.Cleaned = append(report.Cleaned, "partition table of "+disk)
	}
}

func (i *Installer) planCleanup(ctx context.Context, disk string, report *CleanReport) (CleanPlan, error) {
	blocks, err := i.output(ctx, "lsblk", "--json", "--paths", "--output", "NAME,KNAME,TYPE,MOUNTPOINT", disk)
	if err != nil {
		return CleanPlan{}, err
	}
	tree, err := ParseBlocks(blocks)
	if err != nil {
		return CleanPlan{}, err
	}
	var volumes []PhysicalVolume
	text, err := i.output(ctx, "pvs", "--reportformat", "json", "--options", "pv_name,vg_name")
	if err == nil {
		volumes, err = ParsePhysicalVolumes(text)
	}
	if err != nil && !run.Missing(err) {
		report.warn("could not list the physical volumes: %s", err)
	}
	return PlanCleanup(tree, volumes), nil
}

func (i *Installer) execute(ctx context.Context, plan CleanPlan, report *CleanReport) {
	report.Warnings = append(report.Warnings, plan.Warnings...)
	for _, action := range plan.Actions {
		err := i.command(ctx, action.Argv...)
		if err != nil && action.Fallback != nil && ctx.Err() == nil {
			err = i.command(ctx, action.Fallback...)
		}
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			report.warn("could not remove %s: %s", action.What, err)
			continue
		}
		report.Cleaned = append(report.Cleaned, action.What)
	}
}

// command runs a command of the host for its effect.
func (i *Installer) command(ctx context.Context, argv ...string) error {
	_, err := i.Runner.Run(ctx, run.Cmd{Name: argv[0], Args: argv[1:]})
	return err
}

// output runs a command of the host for what it prints.
func (i *Installer) output(ctx context.Context, argv ...string) (string, error) {
	result, err := i.Runner.Run(ctx, run.Cmd{Name: argv[0], Args: argv[1:]})
	return result.Stdout, err
}
