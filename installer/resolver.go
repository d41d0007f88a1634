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
	// resolverLooks is how often, resolverPause apart, the network is checked for its name servers: DHCP takes
	// seconds after a restart.
	resolverLooks = 30
	resolverPause = time.Second
)

var nameServer = regexp.MustCompile(`(?m)^\s*nameserver\s+\S`)

// resolver reads the resolv.conf of the host; empty when it names no working server.
func (i *Installer) resolver() []byte {
	content, err := os.ReadFile(i.Root.Path(resolvConf)) // a dangling link is no file
	if err != nil || !nameServer.Match(content) {
		return nil
	}
	return content
}

// restartNetwork makes NetworkManager apply the changes of bootstrap.ign. The bootstrap services pull images by
// name at once: name servers that do not return, as with a link to a file that is not written any more, are
// restored.
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
	i.Log.Warn("name servers lost with the restart of the network, restored")
	return i.writeFile(resolvConf, before, defaultFileMode)
}
