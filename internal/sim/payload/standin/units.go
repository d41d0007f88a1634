package standin

import (
	"strings"

	"github.com/coreos/ignition/v2/config/util"
	"github.com/coreos/ignition/v2/config/v3_2/types"
)

// unitKind says which part of a unit a config holds.
type unitKind int

const (
	startedByOthers unitKind = iota // contents without an install section
	installable                     // contents with an install section
	ofSystem                        // a unit of the system: empty contents to enable it, or drop-ins alone
)

// bootstrapUnit is a unit in the config of the bootstrap host.
type bootstrapUnit struct {
	name    string
	kind    unitKind
	enabled bool
	dropin  [2]string // name and contents
}

// Units of the bootstrap host as openshift-install 4.19 writes them (openshift/installer, data/data/bootstrap, and
// pkg/asset/ignition/bootstrap/common.go for the enabled ones).
var (
	commonUnits = []bootstrapUnit{
		{"systemd-journal-gatewayd.service", ofSystem, false, [2]string{
			"certs.conf", "[Service]\nExecStart=\nExecStart=/usr/lib/systemd/systemd-journal-gatewayd --trust=/opt/openshift/tls/root-ca.crt\n",
		}},
		{"progress.service", installable, true, [2]string{}},
		{"release-image.service", startedByOthers, false, [2]string{}},
		{"zincati.service", ofSystem, false, [2]string{"okd-machine-os-disabled.conf", "[Unit]\nConditionPathExists=/enoent\n"}},
		{"approve-csr.service", installable, true, [2]string{}},
		{"kubelet.service", installable, true, [2]string{}},
		{"crio-configure.service", installable, false, [2]string{}},
		{"bootkube.service", startedByOthers, false, [2]string{}},
		{"systemd-journal-gatewayd.socket", ofSystem, true, [2]string{}},
		{"chown-gatewayd-key.service", installable, true, [2]string{}},
	}
	metalUnits = []bootstrapUnit{
		{"build-ironic-env.service", installable, false, [2]string{}},
		{"extract-machine-os.service", installable, false, [2]string{}},
		{"master-bmh-update.service", installable, true, [2]string{}},
		{"provisioning-interface.service", installable, false, [2]string{}},
		{"build-metal3-env.service", installable, false, [2]string{}},
		{"wait-iptables-init.service", installable, false, [2]string{}},
	}
	inPlaceUnits = []bootstrapUnit{{"install-to-disk.service", installable, true, [2]string{}}}
)

// units returns the units of the bootstrap host of a cluster.
func (s *state) units(inPlace bool) []bootstrapUnit {
	units := append([]bootstrapUnit{}, commonUnits...)
	if s.Config.Platform.BareMetal != nil {
		units = append(units, metalUnits...)
	}
	if inPlace {
		units = append(units, inPlaceUnits...)
	}
	return units
}

func (u bootstrapUnit) ignition() types.Unit {
	out := types.Unit{Name: u.name}
	if u.enabled {
		out.Enabled = util.BoolToPtr(true)
	}
	if u.dropin[0] != "" {
		out.Dropins = []types.Dropin{{Name: u.dropin[0], Contents: util.StrToPtr(u.dropin[1])}}
	}
	switch {
	case u.kind != ofSystem:
		name := strings.TrimSuffix(u.name, ".service")
		text := "[Unit]\nDescription=" + name + "\n\n" +
			"[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/usr/local/bin/" + name + ".sh\n"
		if u.kind == installable {
			text += "\n[Install]\nWantedBy=multi-user.target\n"
		}
		out.Contents = util.StrToPtr(text)
	case u.dropin[0] == "":
		out.Contents = util.StrToPtr("")
	}
	return out
}
