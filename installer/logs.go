package installer

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"time"

	"github.com/google/uuid"

	"slipway/internal/client"
	"slipway/internal/platform/hostexec"
	"slipway/internal/wire"
)

const (
	gatherScript = "/usr/local/bin/installer-gather.sh"
	// uploadLimit is how long an upload is tried again while the service does not answer.
	uploadLimit = 10 * time.Minute
	// logLimit is how long one command may take to print what it knows.
	logLimit = time.Minute
	// commandLogLimit is how much of the end of one command's output is kept, in bytes.
	commandLogLimit = 16 << 20
)

// LogsRequest names the logs to collect.
type LogsRequest struct {
	ClusterID, InfraEnvID, HostID uuid.UUID
	// Bootstrap adds the bootstrap services; Gather the control plane, by its own script.
	Bootstrap, Gather bool
	MasterIPs         []string
}

// logSource is one file of the archive: what a command prints.
type logSource struct {
	file string
	argv []string
}

var hostLogs = []logSource{
	{"agent.log", journal("agent.service")},
	{"ironic-agent.log", journal("ironic-agent.service")},
	{"network.log", journal("NetworkManager.service")},
	{"chronyd.log", journal("chronyd.service")},
	{"dmesg.log", []string{"dmesg"}},
	{"lsblk.txt", []string{"lsblk", "--output-all"}},
	{"disk-names.txt", []string{"ls", "-lR", "/dev/disk"}},
	{"physical-volumes.txt", []string{"pvdisplay"}},
	{"volume-groups.txt", []string{"vgdisplay"}},
	{"logical-volumes.txt", []string{"lvdisplay"}},
	{"arrays.txt", []string{"cat", "/proc/mdstat"}},
	{"resolv.conf", []string{"cat", resolvConf}},
	{"time-sources.txt", []string{"chronyc", "-n", "sources"}},
	{"findmnt.txt", []string{"findmnt"}},
	{"addresses.txt", []string{"ip", "address"}},
	{"routes.txt", []string{"ip", "route"}},
	{"routes-ipv6.txt", []string{"ip", "-6", "route"}},
	{"boot-order.txt", []string{"efibootmgr", "--verbose"}},
	{"multipath.txt", []string{"multipath", "-ll"}},
	{"iscsi-sessions.txt", []string{"iscsiadm", "--mode", "session", "--print", "1"}},
	{"failed-units.txt", []string{"systemctl", "--no-pager", "--failed"}},
}

var bootstrapLogs = []logSource{
	{"bootkube.log", journal("bootkube.service")},
	{"release-image.log", journal("release-image.service")},
	{"kubelet.log", journal("kubelet.service")},
	{"crio.log", journal("crio.service")},
	{"approve-csr.log", journal("approve-csr.service")},
	{"progress.log", journal("progress.service")},
	{"node-image.log", journal(nodeImagePull)},
}

func journal(unit string) []string {
	return []string{"journalctl", "--no-pager", "--output=short-iso", "--unit=" + unit}
}

// SendLogs collects the logs of the host and sends them to the service, together with the state of the
// collection. Each command may fail; its error then stands in the archive.
//
//	journalctl --no-pager --output=short-iso --unit=agent.service
//	the same for ironic-agent, NetworkManager and chronyd
//	dmesg | lsblk --output-all | ls -lR /dev/disk | pvdisplay | vgdisplay | lvdisplay | cat /proc/mdstat | cat /etc/resolv.conf
//	chronyc -n sources | findmnt | ip address | ip route | ip -6 route | systemctl --no-pager --failed
//	efibootmgr --verbose | multipath -ll | iscsiadm --mode session --print 1
//	[bootstrap: journalctl --no-pager --output=short-iso --unit=UNIT for bootkube, release-image, kubelet, crio,
//	                                            approve-csr, progress, node-image-pull]
//	[bootstrap, when it exists: /usr/local/bin/installer-gather.sh --id CLUSTERID MASTERIP...]
func (i *Installer) SendLogs(ctx context.Context, r LogsRequest) error {
	i.logsProgress(ctx, r, wire.LogsStateRequested)
	archive, err := i.collect(ctx, r)
	if err != nil {
		return fmt.Errorf("collect the logs: %w", err)
	}
	i.logsProgress(ctx, r, wire.LogsStateCollecting)
	err = i.Client.UploadLogs(ctx, client.LogsUpload{
		ClusterID: r.ClusterID, Type: wire.LogsTypeHost, InfraEnvID: r.InfraEnvID, HostID: r.HostID, FileName: "logs.tar.gz",
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(archive)), nil },
	}, client.WithRetry(uploadLimit))
	if err != nil {
		return fmt.Errorf("send the logs: %w", err)
	}
	i.logsProgress(ctx, r, wire.LogsStateCompleted, client.WithRetry(uploadLimit)) // the state that stays
	return nil
}

func (i *Installer) logsProgress(ctx context.Context, r LogsRequest, state wire.LogsState, options ...client.Option) {
	err := i.Client.HostLogsProgress(ctx, r.InfraEnvID, r.HostID, state, options...)
	if err != nil && ctx.Err() == nil {
		i.Log.Warn("log collection not reported", "state", state, "error", err)
	}
}

// collect makes the archive in memory: logs compress to a few megabytes, and the live
// image has no other place either.
func (i *Installer) collect(ctx context.Context, r LogsRequest) ([]byte, error) {
	var packed bytes.Buffer
	compressed := gzip.NewWriter(&packed)
	archive := tar.NewWriter(compressed)
	add := func(name string, content []byte) error {
		header := &tar.Header{Name: r.HostID.String() + "/" + name, Mode: 0o644, Size: int64(len(content))}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		_, err := archive.Write(content)
		return err
	}
	secrets := i.redactor()
	sources := hostLogs
	if r.Bootstrap {
		sources = append(append([]logSource{}, hostLogs...), bootstrapLogs...)
	}
	for _, source := range sources {
		limited, cancel := within(ctx, i.LogLimit)
		content := i.logOf(limited, hostexec.Cmd{Name: source.argv[0], Args: source.argv[1:]}, secrets)
		cancel()
		if err := add(source.file, []byte(content)); err != nil {
			return nil, err
		}
	}
	if r.Bootstrap && r.Gather && i.exists(gatherScript) {
		name, content := i.gather(ctx, r, secrets)
		if err := add(name, content); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(archive.Close(), compressed.Close(), ctx.Err()); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

// logOf returns the output of a command, and its error if it has one, without secrets.
func (i *Installer) logOf(ctx context.Context, command hostexec.Cmd, secrets redactor) string {
	result, err := i.Runner.Run(ctx, command)
	content := hostexec.LastLines(result.Stdout, commandLogLimit)
	if err != nil {
		content += fmt.Sprintf("\n%s\n", err)
	}
	return secrets.Replace(content)
}

// gather runs the script of the bootstrap services, which collects from all masters. The script writes to TAR_FILE, else to
// HOME, which systemd does not set for services of root.
func (i *Installer) gather(ctx context.Context, r LogsRequest, secrets redactor) (name string, content []byte) {
	bundle := "log-bundle-" + r.ClusterID.String() + ".tar.gz"
	place := path.Join("/root", bundle)
	said := i.logOf(ctx, hostexec.Cmd{
		Name: gatherScript, Args: append([]string{"--id", r.ClusterID.String()}, r.MasterIPs...),
		Env: []string{"TAR_FILE=" + place, "HOME=/root"},
	}, secrets)
	content, err := os.ReadFile(i.Root.Path(place))
	if err != nil {
		return "installer-gather.log", []byte(said)
	}
	return bundle, content
}
