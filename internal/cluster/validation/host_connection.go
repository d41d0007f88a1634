package validation

import (
	"time"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// Limits between the clocks of host and service (docs/reference/validation-rules.md,
// "Clock of a host").
const (
	hostBehindLimit = 20 * time.Minute
	hostAheadLimit  = time.Hour
)

func connected(c *hostCase) verdict {
	h := c.Host
	if h.CheckedInAt.IsZero() {
		return success("The host has just registered")
	}
	limit := c.Options.DisconnectAfter
	if h.Bootstrap {
		limit += c.Options.BootstrapGrace
	}
	if silence := c.Now.Sub(h.CheckedInAt); silence > limit {
		return failure("Require a sign of life every %s, last one was %s ago", limit, silence.Round(time.Second))
	}
	return success("The host is connected")
}

func mediaConnected(c *hostCase) verdict {
	if c.Host.MediaStatus == model.MediaDisconnected {
		return failure("Require the discovery media to stay connected, the host cannot read it; connect it again and reboot")
	}
	return success("The discovery media is connected")
}

func ntpSynced(c *hostCase) verdict {
	for _, s := range c.Host.NTPSources {
		if s.SourceState == wire.SourceStateSynced {
			return success("The clock follows %s", s.SourceName)
		}
	}
	if len(c.Host.NTPSources) == 0 {
		return failure("Require a clock that follows an NTP source, the host knows none")
	}
	return failure("Require a clock that follows an NTP source, none of %d is in use", len(c.Host.NTPSources))
}

func timeSynced(c *hostCase) verdict {
	ahead, known := ClockReading{c.Host.Timestamp, c.Host.CheckedInAt}.ahead()
	switch {
	case !known:
		return pending("The host has not told its time yet")
	case ahead > hostAheadLimit:
		return failure("Require a clock at most %s ahead of the service, found %s ahead", hostAheadLimit, ahead.Round(time.Second))
	case -ahead > hostBehindLimit:
		return failure("Require a clock at most %s behind the service, found %s behind", hostBehindLimit, (-ahead).Round(time.Second))
	}
	return success("The clocks of host and service agree")
}

func imagesAvailable(c *hostCase) verdict {
	for i := range c.Host.Images {
		img := &c.Host.Images[i]
		if model.ImageFailed(img) {
			return failure("Require every image to be pulled, %s was not", img.Name)
		}
	}
	return success("All images asked for could be pulled")
}

func agentVersion(c *hostCase) verdict {
	want := c.Options.RequiredAgent
	if c.Host.AgentSteps == model.FineSteps {
		want = c.Options.RequiredFineAgent
	}
	if want == "" || c.Host.DiscoveryAgentVersion == want {
		return success("The agent is the one this service works with")
	}
	return failure("Require agent %s, found %s; it is upgraded by itself", want, c.Host.DiscoveryAgentVersion)
}
