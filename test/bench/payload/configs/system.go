package configs

import (
	"github.com/coreos/ignition/v2/config/util"
	"github.com/coreos/ignition/v2/config/v3_2/types"
)

// systemUnits lists the units of CoreOS that every bootstrap.ign of openshift-install 4.19 changes: empty contents enable the
// system's own unit, drop-ins come without one. They do nothing where the system lacks them.
func systemUnits() []types.Unit {
	return []types.Unit{
		{Name: "systemd-journal-gatewayd.socket", Enabled: util.BoolToPtr(true), Contents: util.StrToPtr("")},
		{Name: "systemd-journal-gatewayd.service", Dropins: []types.Dropin{{
			Name: "certs.conf", Contents: util.StrToPtr("[Service]\nExecStart=\nExecStart=/usr/lib/systemd/systemd-journal-gatewayd\n"),
		}}},
		{Name: "zincati.service", Dropins: []types.Dropin{{
			Name: "okd-machine-os-disabled.conf", Contents: util.StrToPtr("[Unit]\nConditionPathExists=/enoent\n"),
		}}},
	}
}
