package duesteps

import "github.com/google/uuid"

// VIPMAC is the hardware address that a cluster asks a DHCP server with for a virtual
// address; name is "api" or "ingress". Hosts that hold the address later use it too.
func VIPMAC(clusterID uuid.UUID, name string) string { return vipMAC(clusterID.String(), name) }
