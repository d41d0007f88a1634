package process

import (
	"github.com/coreos/go-systemd/v22/daemon"
)

// Notify reports to systemd that the service is ready or stops, with a line for people, as sd_notify(3) does. It does nothing in a
// process that systemd did not start, which has no NOTIFY_SOCKET.
func (p *Process) Notify(state State, line string) {
	if _, err := daemon.SdNotify(false, string(state)+"\nSTATUS="+line); err != nil {
		p.Log.Warn("systemd not notified", "error", err)
	}
}

// State is a state that systemd waits for.
type State string

// States of a service.
const (
	Ready    State = daemon.SdNotifyReady
	Stopping State = daemon.SdNotifyStopping
)
