package manifests

import "fmt"

// iscsiInterfaces makes nodes whose disk is in the network activate its interface again: the initial RAM disk
// activated it before the scripts of NetworkManager that add the cluster's own name server. Every role has it,
// because hosts of later days have other disks: the unit starts only where the firmware has a table of iSCSI disks.
func iscsiInterfaces(in Input) ([]File, error) {
	var files []File
	for _, role := range in.roles() {
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

// telemetry redirects the cluster's telemetry.
func telemetry(in Input) ([]File, error) {
	if in.Options.TelemeterURL == "" {
		return nil, nil
	}
	content, err := fill("telemeter.yaml", in.Options.TelemeterURL)
	return []File{{Folder: FolderManifests, Name: "redirect-telemeter.yaml", Content: content}}, err
}
