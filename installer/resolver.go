package installer

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"time"
)

const (
	resolvConf = "/etc/resolv.conf"
	// resolverLooks is how often the network is asked, resolverPause apart, whether it
	// brought its name servers back: DHCP takes seconds after a restart.
	resolverLooks = 30
	resolverPause = time.Second
)

var nameServer = regexp.MustCompile(`(?m)^\s*nameserver\s+\S`)

// resolver is what the host resolves names with; empty when it has nothing that works.
func (i *Installer) resolver() []byte {
	content, err := os.ReadFile(i.Root.Path(resolvConf)) // a dangling link is no file
	if err != nil || !nameServer.Match(content) {
		return nil
	}
	return content
}

// restartNetwork lets NetworkManager take up what bootstrap.ign changed. The bootstrap
// services pull images by name at once: name servers that do not come back, as with a link
// to a file that nobody writes any more, are put back as they were before.
func (i *Installer) restartNetwork(ctx context.Context, before []byte) error {
	if err := i.command(ctx, "systemctl", "restart", "NetworkManager.service"); err != nil {
		return fmt.Errorf("restart the network: %w", err)
	}
	if before == nil {
		return nil
	}
	for look := 0; i.resolver() == nil && look < resolverLooks; look++ {
		if err := i.Sleep(ctx, resolverPause); err != nil {
			return fmt.Errorf("wait for name servers: %w", err)
		}
	}
	if i.resolver() != nil {
		return nil // those that came last count too
	}
	i.Log.Warn("name servers lost with the restart of the network, put back")
	return i.writeFile(resolvConf, before, defaultFileMode)
}
