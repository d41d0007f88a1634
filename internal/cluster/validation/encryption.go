package validation

import (
	"strings"

	"slipway/internal/model"
)

const encryptionTang = "tang"

// encryptedRole maps the parts of disk_encryption.enable_on to roles.
var encryptedRole = map[string]model.Role{
	"masters":  model.RoleMaster,
	"arbiters": model.RoleArbiter,
	"workers":  model.RoleWorker,
}

// EncryptionConcerns reports whether the disks of a role are encrypted under an
// enable_on value (none, all, masters, workers, "masters,workers", ...), and whether
// that can be known: a host whose role is not decided may become either.
func EncryptionConcerns(enableOn string, role model.Role) (concerned, known bool) {
	switch enableOn {
	case "", "none":
		return false, true
	case "all":
		return true, true
	}
	if role == model.RoleAutoAssign || role == "" {
		return false, false
	}
	for part := range strings.SplitSeq(enableOn, ",") {
		if encryptedRole[strings.TrimSpace(part)] == role {
			return true, true
		}
	}
	return false, true
}

// dayTwoEncryption follows the workers of the existing cluster: the keys of a host that joins it are kept the
// same way.
func dayTwoEncryption(c *hostCase) verdict {
	d := c.Host.IgnitionDownload
	if d == nil || !d.IsSuccess {
		return pending("Whether the cluster encrypts disks is not known yet")
	}
	workers := readWorkerIgnition(d.Ignition)
	switch {
	case !workers.tpm2() && len(workers.tang()) == 0:
		return irrelevant()
	case c.inv == nil:
		return pending(missingInventory)
	case workers.tpm2():
		return hasTPM2(c)
	}
	return tangReached(c, workers.tang())
}
