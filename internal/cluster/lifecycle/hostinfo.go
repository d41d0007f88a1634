package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Status infos of more than one row.
const (
	infoDiscovering      = "The host is being discovered, its inventory is awaited"
	infoKnown            = "Host is ready to be installed"
	infoInstalling       = "Installation is starting"
	infoInstalled        = "The host is installed"
	infoAddedUnseen      = "The host rebooted, its agent reports no more: approve the signing requests of its node in the cluster"
	infoPreparing        = "Host is preparing for installation"
	infoResetWaits       = "Boot the host from the discovery image again to continue its reset"
	infoUnbindWaits      = "The host left the live image: boot it from the discovery image to take it out of the cluster"
	infoMediaGone        = "The discovery media is gone: connect it again and reboot the host"
	infoSilentInstalling = "The host fell silent while it was installed, there was no sign of it for %s"
	infoWrongBootOrder   = "The host booted the discovery image instead of its disk: remove the image, or put the " +
		"installation disk first in the boot order, and reboot"
)

// hostInfo makes a status info of a sentence and the facts it mentions.
func hostInfo(format string, args ...func(*hf) string) func(*hf) string {
	return func(f *hf) string {
		values := make([]any, len(args))
		for i, a := range args {
			values[i] = a(f)
		}
		return fmt.Sprintf(format, values...)
	}
}

func stageOf(f *hf) string {
	if f.Stage == "" {
		return "none"
	}
	return fmt.Sprintf("%q", string(f.Stage))
}

// inStage says where a host is in its installation.
func inStage(f *hf) string {
	if f.Stage == "" {
		return "before its first stage"
	}
	return "in stage " + stageOf(f)
}

func stageInfo(f *hf) string {
	if f.Stage == "" {
		return infoInstalling
	}
	return string(f.Stage)
}

// span formats a duration without zero units: 40m, 1h20m.
func span(d time.Duration) string {
	text := d.Round(time.Second).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func disconnectLimit(f *hf) string { return span(f.Timeouts.Disconnect) }
func hostLimit(f *hf) string       { return span(f.Limit) }
func diskOf(f *hf) string          { return f.InstallationDisk }

// hostReason makes a status info that ends with the reason of the event.
func hostReason(format string, args ...func(*hf) string) func(*hf) string {
	return func(f *hf) string { return withReason(hostInfo(format, args...)(f), f.Reason) }
}

func hostReasonOnly(f *hf) string { return f.Reason }

func attemptInfo(f *hf) string {
	if f.Attempt > 1 {
		return "The installation of this host is tried again"
	}
	return infoInstalling
}

const (
	infoStageTimeout   = "The host has been in stage %s for more than %s"
	infoWritingTimeout = "The image has not been written in %s: the installation disk may be too slow, " +
		"or the host cannot reach the service"
	infoCopyingTimeout = "The registry data has not been copied in %s: the installation disk " +
		"or the discovery media may be too slow"
)

var (
	stageTimeout   = hostInfo(infoStageTimeout, stageOf, hostLimit)
	writingTimeout = hostInfo(infoWritingTimeout, hostLimit)
	copyingTimeout = hostInfo(infoCopyingTimeout, hostLimit)
)

func disconnectedInfo(f *hf) string {
	if !f.Conditions.MediaConnected {
		return infoMediaGone
	}
	return hostInfo("The host is silent, there was no sign of it for %s", disconnectLimit)(f)
}

// because appends the messages of the failing rules.
func because(text string, reasons []string) string {
	if len(reasons) == 0 {
		return text
	}
	return text + ": " + strings.Join(reasons, "; ")
}

// hardwareInfo blames the hardware for rules that failed, not for rules that wait: these often wait for what keeps the host from
// being installed anyway.
func hardwareInfo(f *hf) string {
	hardware, others := f.Conditions.hardware, f.Conditions.forInstallation
	if len(hardware.failed) == 0 {
		return because("The host cannot be installed yet", slices.Concat(others.failed, hardware.pending, others.pending))
	}
	return because("The hardware is not sufficient for any role", hardware.messages())
}

func poolHardwareInfo(f *hf) string {
	return because("The host cannot be bound to a cluster", f.Conditions.toBeBound.messages())
}

func inputInfo(f *hf) string {
	return because("The cluster lacks input", f.Conditions.input.messages())
}

func notReady(f *hf) string {
	return because("The host cannot be installed", f.Conditions.forInstallation.messages())
}
