package events

import "time"

// quiet is how often an event with the same message is written for the same host, cluster
// or discovery environment: at most once in that time. Only events that hosts repeat by
// themselves are in it; what a user does or a status becomes is always told.
var quiet = map[Name]struct {
	every time.Duration
	why   string
}{
	HostRegistrationFailed:       {10 * time.Minute, "an agent that is refused asks again every minute"},
	UpgradeAgentStarted:          {10 * time.Minute, "an upgrade without an answer is asked for again"},
	UpgradeAgentFailed:           {10 * time.Minute, "an upgrade that failed is asked for again"},
	DiskSpeedSlowerThanSupported: {time.Hour, "each preparation measures the disk again"},
	ApiIngressVIPTimedOut:        {10 * time.Minute, "leases are asked for as long as none comes"},
}
