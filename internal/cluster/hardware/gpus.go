package hardware

import (
	"strings"

	"slipway/internal/model"
)

// Vendors of GPUs, by their PCI ids.
const (
	VendorNVIDIA = "10de"
	VendorAMD    = "1002"
)

// PCIID returns an id of PCI in lower case, without 0x.
func PCIID(text string) string { return strings.TrimPrefix(strings.ToLower(text), "0x") }

// GPUs counts the GPUs of a host by one vendor.
func GPUs(h *model.Host, vendor string) int {
	if h.Inventory == nil {
		return 0
	}
	n := 0
	for _, g := range h.Inventory.Gpus {
		if PCIID(g.VendorID) == vendor {
			n++
		}
	}
	return n
}
