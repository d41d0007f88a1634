package events

import "time"

// quiet is how often an event with the same message is written for the same host, cluster or InfraEnv: at most
// once in that time. It lists only events that hosts repeat by themselves; actions of users and changes of a
// status are always written.
var quiet = map[Name]struct {
	every time.Duration
	why   string
}{
	HostRegistrationFailed:       {10 * time.Minute, "a refused agent asks again every minute"},
	UpgradeAgentStarted:          {10 * time.Minute, "an upgrade without an answer is requested again"},
	UpgradeAgentFailed:           {10 * time.Minute, "a failed upgrade is requested again"},
	DiskSpeedSlowerThanSupported: {time.Hour, "each preparation measures the disk again"},
	ApiIngressVIPTimedOut:        {10 * time.Minute, "leases are requested until one arrives"},
}
