package validation

import (
	"encoding/json"
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

// workerIgnition is what tells how the workers of an existing cluster are encrypted
// (Ignition 3.2, storage.luks.clevis).
type workerIgnition struct {
	Storage struct {
		LUKS []struct {
			Clevis struct {
				TPM2 bool              `json:"tpm2"`
				Tang []json.RawMessage `json:"tang"`
			} `json:"clevis"`
		} `json:"luks"`
	} `json:"storage"`
}

func dayTwoEncryption(c *hostCase) verdict {
	if c.IgnitionDownload == nil || !c.IgnitionDownload.IsSuccess {
		return pending("Whether the cluster encrypts disks is not known yet")
	}
	var config workerIgnition
	if err := json.Unmarshal([]byte(c.IgnitionDownload.Ignition), &config); err != nil || len(config.Storage.LUKS) == 0 {
		return irrelevant()
	}
	if c.inv == nil {
		return pending(missingInventory)
	}
	for _, l := range config.Storage.LUKS {
		if l.Clevis.TPM2 {
			return hasTPM2(c)
		}
		if len(l.Clevis.Tang) > 0 {
			return tangReached(c)
		}
	}
	return irrelevant()
}
