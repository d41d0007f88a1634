package installer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

const sshManifest = "/opt/openshift/openshift/99-assisted-installer-master-ssh.yaml"

// sshMachineConfig lets the bootstrap host collect the logs of control plane nodes.
const sshMachineConfig = `apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata:
  labels:
    machineconfiguration.openshift.io/role: master
  name: 99-assisted-installer-master-ssh
spec:
  config:
    ignition:
      version: 3.1.0
    passwd:
      users:
        - name: core
          sshAuthorizedKeys:
            - %s
`

// addSSHManifest makes a key of this bootstrap host known to the control plane nodes.
func (i *Installer) addSSHManifest(ctx context.Context) error {
	if err := i.privateDir("/root/.ssh"); err != nil {
		return err
	}
	if !i.exists(sshKey + ".pub") {
		// One that was cut off would make ssh-keygen ask whether to write over it.
		err := os.Rename(i.Root.Path(sshKey), i.Root.Path(sshKey+".before"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("put an SSH key without its public half aside: %w", err)
		}
		// A host in FIPS mode knows no ed25519.
		if err := i.command(ctx, "ssh-keygen", "-q", "-t", "ecdsa", "-b", "256", "-N", "", "-f", sshKey); err != nil {
			return fmt.Errorf("make an SSH key: %w", err)
		}
	}
	public, err := os.ReadFile(i.Root.Path(sshKey + ".pub"))
	if err != nil {
		return fmt.Errorf("read the SSH key: %w", err)
	}
	return i.writeFile(sshManifest, fmt.Appendf(nil, sshMachineConfig, strings.TrimSpace(string(public))), defaultFileMode)
}
