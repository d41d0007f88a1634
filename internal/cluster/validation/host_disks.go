package validation

import (
	"slices"
	"strings"

	"slipway/internal/cluster/hardware"
	"slipway/internal/wire"
)

func minDisks(c *hostCase) verdict {
	if c.inv == nil {
		return pending(missingInventory)
	}
	if len(c.inv.Disks) == 0 {
		return broken("Require at least one disk, found none")
	}
	n := 0
	for i := range c.inv.Disks {
		if c.inv.Disks[i].InstallationEligibility.Eligible {
			n++
		}
	}
	if n == 0 {
		return failure("Require at least one disk to install to, none of %d is eligible", len(c.inv.Disks))
	}
	return success("Found %d disks to install to", n)
}

func diskSpeed(c *hostCase) verdict {
	if s, ok := c.Host.DiskSpeed[c.Host.InstallationDiskPath]; ok && s.Tested && s.ExitCode != 0 {
		return failure(
			"Require a disk that can be written to, the speed check of %s ended with code %d",
			c.Host.InstallationDiskPath,
			s.ExitCode,
		)
	}
	return success("No speed check of the installation disk failed")
}

func installationDiskFormatted(c *hostCase) verdict {
	if c.inv == nil {
		return success("The installation disk may be formatted")
	}
	disk := hardware.InstallationDisk(c.Host)
	if disk == nil {
		return success("No installation disk is chosen")
	}
	for _, ref := range c.Host.SkipFormattingDisks {
		if d := hardware.FindDisk(c.inv, ref); d != nil && hardware.DiskID(d) == hardware.DiskID(disk) {
			return failure("Require an installation disk that may be formatted, %s is to be kept", ref)
		}
	}
	return success("The installation disk may be formatted. Lost by the installation: %s", strings.Join(hardware.Losses(c.Host), "; "))
}

func skippedDisksExist(c *hostCase) verdict {
	if c.inv == nil {
		return pending(missingInventory)
	}
	var missing []string
	for _, ref := range c.Host.SkipFormattingDisks {
		if hardware.FindDisk(c.inv, ref) == nil && !slices.Contains(missing, ref) {
			missing = append(missing, ref)
		}
	}
	if len(missing) > 0 {
		return failure("Require the disks that are to be kept to exist, missing %s", some(missing))
	}
	return success("All disks that are to be kept exist")
}

func diskEncryption(c *hostCase) verdict {
	if c.dayTwo() {
		return dayTwoEncryption(c)
	}
	e := c.Cluster.DiskEncryption
	concerned, known := EncryptionConcerns(e.EnableOn, c.role)
	switch {
	case !known:
		return pending("Whether the disk is to be encrypted depends on the role, which is not known yet")
	case !concerned:
		return irrelevant()
	case c.inv == nil:
		return pending(missingInventory)
	}
	if e.Mode == encryptionTang {
		return tangReached(c, parseTangServers(e.TangServers))
	}
	return hasTPM2(c)
}

func hasTPM2(c *hostCase) verdict {
	if v := c.inv.TpmVersion; v != wire.InventoryTpmVersionN20 {
		return failure("Require TPM version %s for disk encryption, found %s", wire.InventoryTpmVersionN20, orNone(string(v)))
	}
	return success("TPM %s can keep the key of the disk", wire.InventoryTpmVersionN20)
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

func tangReached(c *hostCase, servers []tangServer) verdict {
	reply := c.Host.Tang
	switch {
	case reply == nil:
		return pending("The host has not tried to reach the Tang servers yet")
	case !reply.IsSuccess && c.Host.TangError != "":
		return failure("Require every Tang server to answer, at least one did not: %s", c.Host.TangError)
	case !reply.IsSuccess:
		return failure("Require every Tang server to answer, at least one did not")
	}
	tried := make([]string, len(reply.TangServerResponse))
	for i := range reply.TangServerResponse {
		tried[i] = reply.TangServerResponse[i].TangURL
	}
	for _, s := range servers {
		if len(tried) > 0 && !slices.Contains(tried, s.URL) {
			return pending("The host has not tried to reach the Tang server %s yet", s.URL) // it was added since
		}
	}
	return success("Every Tang server answers")
}
