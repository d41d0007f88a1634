package manifests

import (
	"fmt"
	"slices"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// iscsiInterfaces makes nodes whose disk is in the network activate its interface again: the initial RAM disk
// activated it before the scripts of NetworkManager that add the cluster's own name server.
func iscsiInterfaces(in Input) ([]File, error) {
	var files []File
	for _, role := range in.roles() {
		if !slices.ContainsFunc(in.ofRole(role), bootsFromISCSI) {
			continue
		}
		name := fmt.Sprintf("50-%ss-iscsi-nic-reapply", role)
		m := machineConfig{name: name, role: role}
		script, err := fill("iscsi-reapply.sh", nil)
		if err != nil {
			return nil, err
		}
		unit, err := fill("iscsi-reapply.service", nil)
		if err != nil {
			return nil, err
		}
		m.addFile("/usr/local/bin/iscsi-nic-reapply", modeScript, script)
		m.addUnit("iscsi-nic-reapply.service", unit)
		f, err := m.file(name + ".yaml")
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// bootsFromISCSI reports whether the installation disk of a host is in the network.
func bootsFromISCSI(h *model.Host) bool {
	if h.Inventory == nil {
		return false
	}
	return slices.ContainsFunc(h.Inventory.Disks, func(d wire.Disk) bool {
		chosen := h.InstallationDiskID != "" && d.ID == h.InstallationDiskID ||
			h.InstallationDiskPath != "" && d.Path == h.InstallationDiskPath
		return chosen && d.DriveType == wire.DriveTypeISCSI
	})
}

// telemetry redirects the cluster's telemetry.
func telemetry(in Input) ([]File, error) {
	if in.Options.TelemeterURL == "" {
		return nil, nil
	}
	content, err := fill("telemeter.yaml", in.Options.TelemeterURL)
	return []File{{Folder: FolderManifests, Name: "redirect-telemeter.yaml", Content: content}}, err
}
