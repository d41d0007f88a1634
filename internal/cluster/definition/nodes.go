package definition

import (
	"cmp"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// Values of the disk encryption setting.
const (
	encryptionOff  = "none"
	encryptionTPM  = "tpmv2"
	encryptionTang = "tang"
)

// applyNodes sets the options of nodes.
func applyNodes(c *model.Cluster, p wire.V2ClusterUpdateParams) error {
	if p.Hyperthreading != nil {
		c.Hyperthreading = string(*p.Hyperthreading)
	}
	set(&c.SchedulableMasters, p.SchedulableMasters)
	return applyEncryption(c, p.DiskEncryption)
}

// applyEncryption sets the encryption of disks. Fields that were not sent stay; Tang servers stay only with mode tang.
func applyEncryption(c *model.Cluster, sent *wire.DiskEncryption) error {
	if sent == nil {
		return nil
	}
	e := model.DiskEncryption{
		EnableOn:    cmp.Or(string(sent.EnableOn), c.DiskEncryption.EnableOn),
		Mode:        cmp.Or(string(sent.Mode), c.DiskEncryption.Mode),
		TangServers: sent.TangServers,
	}
	if e.Mode == encryptionTang && e.TangServers == "" {
		e.TangServers = c.DiskEncryption.TangServers
	}
	if e.TangServers != "" {
		if err := checkTangServers(e.TangServers); err != nil {
			return err
		}
	}
	if e.Mode == encryptionTang && e.TangServers == "" {
		return model.Invalidf("disk_encryption.tang_servers is required with mode tang")
	}
	c.DiskEncryption = e
	return nil
}
