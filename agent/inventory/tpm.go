package inventory

import (
	"context"

	"slipway/internal/wire"
)

func readTPM(_ context.Context, m Machine, into *wire.Inventory) {
	into.TpmVersion = wire.InventoryTpmVersionNone
	switch {
	case m.text("/sys/class/tpm/tpm0/tpm_version_major") == "2":
		into.TpmVersion = wire.InventoryTpmVersionN20
	case m.exists("/sys/class/tpm/tpm0"):
		into.TpmVersion = wire.InventoryTpmVersionN12 // older kernels tell no version of a 1.2
	}
}
