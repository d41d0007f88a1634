package installer

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"

	"slipway/internal/client"
	"slipway/internal/wire"
)

const (
	bootstrapIgnition = "bootstrap.ign"
	sshKey            = "/root/.ssh/id_ecdsa"
	hostNameFile      = "/proc/sys/kernel/hostname"
)

// bootstrapServices make this host the first control plane (docs/reference/installer.md,
// "Bootstrap services").
var bootstrapServices = []string{"bootkube.service", "approve-csr.service", "progress.service"}

// usableName is a host name a node may have: a DNS-1123 subdomain of 63 bytes at most.
var usableName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)

// StartBootstrap makes the host the temporary control plane: it applies bootstrap.ign to
// the running system, adds the controller to the manifests and starts the bootstrap
// services. Doing it again in the same attempt is safe; running services are left alone. A host that has begun the
// bootstrap of another attempt refuses.
//
//	[ssh-keygen -q -t ecdsa -b 256 -N  -f /root/.ssh/id_ecdsa]   when that file is missing
//	[hostnamectl set-hostname NAME]             when the host's name is not usable
//	systemctl daemon-reload
//	[systemctl enable UNIT...] [systemctl disable UNIT...] [systemctl mask UNIT...]   as bootstrap.ign says
//	systemctl restart NetworkManager.service
//	[systemctl start --no-block node-image-pull.service node-image-overlay.service]   without /usr/bin/oc, when
//	                                            bootstrap.ign has them; then every 5 s:
//	[systemctl show --property=Id,ActiveState,Result UNIT...]   until node-image-overlay.service is active, or one of both has failed
//	[systemctl start bootkube.service approve-csr.service progress.service]   unless bootkube is done
func (i *Installer) StartBootstrap(ctx context.Context, req *wire.BootstrapRequest) error {
	config, err := i.Client.ClusterFile(ctx, req.ClusterID, bootstrapIgnition, client.WithRetry(fetchLimit))
	if err != nil {
		return fmt.Errorf("fetch %s: %w", bootstrapIgnition, err)
	}
	if err := i.privateDir(installDir); err != nil {
		return err
	}
	if err := i.beginAttempt(req, config); err != nil {
		return err
	}
	if err := i.writeFile(installDir+"/"+bootstrapIgnition, config, 0o600); err != nil {
		return err
	}
	names := i.resolver()
	if err := i.apply(ctx, config); err != nil {
		return fmt.Errorf("apply %s: %w", bootstrapIgnition, err)
	}
	if err := i.addSSHManifest(ctx); err != nil {
		i.Log.Warn("nodes will not let the log collection in", "error", err)
	}
	if err := i.addController(req); err != nil {
		return fmt.Errorf("add the controller to the manifests: %w", err)
	}
	if err := i.nameHost(ctx, &req.InstallCmdRequest); err != nil {
		return err
	}
	if err := i.restartNetwork(ctx, names); err != nil {
		return err
	}
	if err := i.overlayNodeImage(ctx); err != nil {
		return err
	}
	return i.startServices(ctx)
}

// startServices starts the bootstrap services, unless bootkube is done: progress.service cannot record a second time
// that the bootstrap is complete, and would try without end.
func (i *Installer) startServices(ctx context.Context) error {
	if i.exists(bootkubeDone) {
		return nil
	}
	err := i.command(ctx, append([]string{"systemctl", "start"}, bootstrapServices...)...)
	if err == nil {
		return nil
	}
	// systemctl names the unit that it was asked for, not the unit that it depends on.
	if cause := i.failedUnit(ctx, controlPlaneUnits...); cause != nil {
		return fmt.Errorf("start the bootstrap services: %w", cause)
	}
	return fmt.Errorf("start the bootstrap services: %w", err)
}

// nameHost gives the host a name its kubelet can register with.
func (i *Installer) nameHost(ctx context.Context, req *wire.InstallCmdRequest) error {
	content, err := os.ReadFile(i.Root.Path(hostNameFile))
	if err != nil {
		return fmt.Errorf("read the host name: %w", err)
	}
	name := strings.TrimSpace(string(content))
	if len(name) <= 63 && usableName.MatchString(name) && !strings.HasPrefix(name, "localhost") {
		return nil
	}
	if err := i.command(ctx, "hostnamectl", "set-hostname", "host-"+req.HostID.String()[:8]); err != nil {
		return fmt.Errorf("name the host: %w", err)
	}
	return nil
}
