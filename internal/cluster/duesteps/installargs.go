package duesteps

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"

	"slipway/internal/cluster/hardware"
	"slipway/internal/cluster/validation"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// Time-outs given to hosts when the caller names none (docs/reference/state-rules.md,
// "Time-outs").
const (
	defaultDiskCheck         = 8 * time.Minute
	defaultImageAvailability = 16 * time.Minute
)

// mustGatherPlatform is the key of the platform's own image.
const mustGatherPlatform = "ocp"

func diskSpeedArgs(in *ArgsInput) ([]string, error) {
	h := in.Host
	if s := h.DiskSpeed[h.InstallationDiskPath]; hardware.DiskSpeedExempt(h) || s.Tested && s.ExitCode == 0 {
		return nil, ErrSkip
	}
	device, err := bootDevice(h)
	if err != nil {
		return nil, err
	}
	args, err := one(wire.DiskSpeedCheckRequest{Path: device})
	if err != nil {
		return nil, err
	}
	limit := in.DiskCheck
	if limit <= 0 {
		limit = defaultDiskCheck
	}
	return append(args, fmt.Sprintf("%.2f", limit.Seconds())), nil
}

// RequiredImages lists the images a host must be able to pull, in the contract's order.
func (i Images) RequiredImages() []string {
	var out []string
	for _, image := range []string{i.Release, i.MCO, i.MustGather[mustGatherPlatform], i.Installer, i.Controller} {
		if image != "" && !slices.Contains(out, image) {
			out = append(out, image)
		}
	}
	return out
}

func imageArgs(in *ArgsInput) ([]string, error) {
	required := in.Images
	if in.Host.AgentSteps == model.FineSteps {
		required.Installer = "" // our agent is the installer too
	} else {
		required.Controller = "" // agents of other implementations are not asked for it
	}
	images := required.RequiredImages()
	if len(images) == 0 || !slices.ContainsFunc(images, func(name string) bool { return !pulled(in.Host, name) }) {
		return nil, ErrSkip
	}
	limit := in.ImageAvailability
	if limit <= 0 {
		limit = defaultImageAvailability
	}
	return one(wire.ContainerImageAvailabilityRequest{Images: images, Timeout: int(limit.Seconds())})
}

// pulled reports whether the host could pull an image when it was asked last.
func pulled(h *model.Host, name string) bool {
	return slices.ContainsFunc(h.Images, func(i wire.ContainerImageAvailability) bool {
		return i.Name == name && i.Result == wire.ContainerImageAvailabilityResultSuccess && !model.ImageFailed(&i)
	})
}

func logsArgs(in *ArgsInput) ([]string, error) {
	if in.Cluster == nil {
		return nil, ErrSkip
	}
	request := wire.LogsGatherCmdRequest{
		ClusterID: in.Cluster.ID, HostID: in.Host.ID, InfraEnvID: in.Host.InfraEnvID,
		Bootstrap: in.Host.Bootstrap,
		// Foreign agents refuse false as missing (docs/reference/step-rules.md,
		// "installer_gather is always true").
		InstallerGather: true,
	}
	if in.Host.Bootstrap {
		request.MasterIps = masterIPs(in)
	}
	return one(request)
}

// masterIPs lists the addresses the bootstrap host reaches the other control plane hosts at.
func masterIPs(in *ArgsInput) []string {
	var out []string
	networks := in.Cluster.Effective().MachineNetworks
	for _, h := range in.Hosts {
		if h.ID == in.Host.ID || h.EffectiveRole() != model.RoleMaster {
			continue
		}
		for _, nic := range hardware.NICs(h.Inventory) {
			for _, a := range nic.Addresses {
				if inAny(networks, a) {
					out = append(out, a.Addr().String())
				}
			}
		}
	}
	return out
}

func installArgs(in *ArgsInput) ([]string, error) {
	request, err := InstallRequest(*in)
	if err != nil {
		return nil, err
	}
	if !in.Host.Bootstrap || in.Host.AgentSteps != model.FineSteps {
		return one(request)
	}
	bootstrap := wire.BootstrapRequest{
		InstallCmdRequest: request, Attempt: in.Cluster.InstallAttempt, ControllerToken: in.ControllerToken.Reveal(),
	}
	if in.Images.Controller == "" {
		bootstrap.Controller = &wire.ControllerProgram{Image: in.Images.CLI, Programs: in.ControllerPrograms}
	}
	return one(bootstrap)
}

// InstallRequest makes the request a host needs to install itself; the argument of install and of all fine steps.
func InstallRequest(in ArgsInput) (wire.InstallCmdRequest, error) {
	h, c := in.Host, in.Cluster
	if c == nil {
		return wire.InstallCmdRequest{}, fmt.Errorf("require a host of a cluster, %s is unbound", h.ID)
	}
	device, err := bootDevice(h)
	if err != nil {
		return wire.InstallCmdRequest{}, err
	}
	role, err := installRole(h)
	if err != nil {
		return wire.InstallCmdRequest{}, err
	}
	args, err := installerArgsText(in)
	if err != nil {
		return wire.InstallCmdRequest{}, err
	}
	mustGather, err := mustGatherText(in.Images.MustGather)
	if err != nil {
		return wire.InstallCmdRequest{}, err
	}
	beside, err := imageBeside(in)
	if err != nil {
		return wire.InstallCmdRequest{}, err
	}
	request := wire.InstallCmdRequest{
		ClusterID: c.ID, InfraEnvID: h.InfraEnvID, HostID: h.ID, Role: role,
		BootDevice: device, DisksToFormat: formatPaths(h),
		ControllerImage: cmp.Or(in.Images.Controller, in.Images.CLI), InstallerImage: in.Images.Installer,
		McoImage: in.Images.MCO, MustGatherImage: mustGather, CoreosImage: beside,
		ControlPlaneCount: controlPlaneCount(c, h), CheckCvo: in.CheckClusterVersion,
		OpenshiftVersion: c.OpenShiftVersion, InstallerArgs: args,
		// A disk that keeps partitions must not be wiped.
		SkipInstallationDiskCleanup: hardware.DiskSpeedExempt(h),
		EnableSkipMcoReboot:         skipMCOReboot(in, kernelName(h)),
		NotifyNumReboots:            true,
		Proxy:                       installerProxy(c),
		ServiceIps:                  in.ServiceIPs,
	}
	return request, nil
}

// imageBeside returns the operating system for a host that runs from a disk: it cannot be written over that disk, and goes beside the
// system that runs. Other hosts need none.
func imageBeside(in ArgsInput) (string, error) {
	switch {
	case !validation.RunsFromDisk(in.Host):
		return "", nil
	case validation.WorkerOSImage(in.Host) != "": // the cluster may have been upgraded since its release
		return validation.WorkerOSImage(in.Host), nil
	case in.Images.CoreOS == "":
		return "", model.Invalidf("require a release with an image of its operating system for a host that runs from its disk, found none")
	}
	return in.Images.CoreOS, nil
}

// controlPlaneCount returns zero for a host that joins an existing cluster: it must not take itself for a single node.
func controlPlaneCount(c *model.Cluster, h *model.Host) int {
	if h.DayTwo() {
		return 0
	}
	return c.ControlPlaneCount
}

// installRole names the bootstrap host's role, which no host has in the store.
func installRole(h *model.Host) (wire.HostRole, error) {
	if h.Bootstrap {
		return wire.HostRole(model.RoleBootstrap), nil
	}
	switch role := h.EffectiveRole(); role {
	case model.RoleMaster, model.RoleArbiter, model.RoleWorker:
		return wire.HostRole(role), nil
	default:
		return "", fmt.Errorf("require a host with a role, %s has %q", h.ID, role)
	}
}

// bootDevice returns the device installed to, by the name that stays when the kernel numbers disks anew; foreign agents require a path
// below /dev.
func bootDevice(h *model.Host) (string, error) {
	path := h.InstallationDiskID
	if !strings.HasPrefix(path, "/dev/") {
		path = kernelName(h)
	}
	if !strings.HasPrefix(path, "/dev/") {
		return "", fmt.Errorf("require an installation disk below /dev, found %q", path)
	}
	return path, nil
}

// kernelName returns the path that the kernel gave the installation disk at this boot.
func kernelName(h *model.Host) string {
	if d := hardware.InstallationDisk(h); d != nil {
		return hardware.DevicePath(d)
	}
	return h.InstallationDiskPath
}

func formatPaths(h *model.Host) []string {
	var out []string
	for _, d := range hardware.DisksToFormat(h) {
		out = append(out, hardware.DevicePath(d))
	}
	return out
}

func mustGatherText(images map[string]string) (string, error) {
	if len(images) == 0 {
		return "", nil
	}
	if platform, ok := images[mustGatherPlatform]; ok && len(images) == 1 {
		return platform, nil
	}
	out, err := json.Marshal(images)
	return string(out), err
}

// skipMCOReboot saves a reboot where the machine config is applied before the first
// one: from 4.15 on, not on s390x, not on device mapper disks.
func skipMCOReboot(in ArgsInput, device string) bool {
	v, err := semver.NewVersion(in.Cluster.OpenShiftVersion)
	if err != nil || v.Major() < 4 || v.Major() == 4 && v.Minor() < 15 {
		return false
	}
	onMainframe := in.Cluster.CPUArchitecture == archS390X || in.Host.Inventory != nil && in.Host.Inventory.CPU.Architecture == archS390X
	return !in.KeepMCOReboot && !onMainframe && !strings.Contains(device, "dm-")
}

const archS390X = "s390x"

// installerProxy adds the destinations that the installer itself reaches directly. Agents refuse a list with an entry twice.
func installerProxy(c *model.Cluster) wire.Proxy {
	p := c.Effective().Proxy
	if p.HTTP == "" && p.HTTPS == "" {
		return wire.Proxy{}
	}
	direct := model.AddExceptions(p.Exceptions(), "127.0.0.1", "localhost", ".svc", ".cluster.local")
	if c.BaseDNSDomain != "" { // an imported cluster may have none
		direct = model.AddExceptions(direct, "api-int."+c.Name+"."+c.BaseDNSDomain)
	}
	return wire.Proxy{HTTPProxy: p.HTTP, HTTPSProxy: p.HTTPS, NoProxy: strings.Join(direct, ",")}
}
