package manifests

import (
	"bytes"
	"embed"
	"fmt"
	"strings"
	"text/template"

	"github.com/clarketm/json" // encoding/json, but leaves out empty structs as Butane does
	"github.com/coreos/ignition/v2/config/util"
	"github.com/coreos/ignition/v2/config/v3_2"
	"github.com/coreos/ignition/v2/config/v3_2/types"
	"github.com/vincent-petithory/dataurl"
	"sigs.k8s.io/yaml"

	"slipway/internal/model"
)

//go:embed templates/*
var templateFiles embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{"quote": quote}).ParseFS(templateFiles, "templates/*"))

// quote makes a YAML scalar of any text: JSON strings are YAML.
func quote(text string) (string, error) {
	data, err := json.Marshal(text)
	return string(data), err
}

// fill fills a template with data.
func fill(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		return nil, fmt.Errorf("fill template %s: %w", name, err)
	}
	return b.Bytes(), nil
}

// machineConfig is an object that the machine config operator applies to all nodes of
// a pool (machineconfiguration.openshift.io/v1).
type machineConfig struct {
	name            string
	role            model.Role
	config          types.Config
	kernelArguments []string
}

// yaml writes the object, whose config must be valid for Ignition 3.2.0: that is the oldest a supported release
// reads.
func (m machineConfig) yaml() ([]byte, error) {
	m.config.Ignition.Version = types.MaxVersion.String()
	config, err := json.Marshal(m.config)
	if err != nil {
		return nil, fmt.Errorf("write Ignition of %s: %w", m.name, err)
	}
	if _, report, err := v3_2.Parse(config); err != nil {
		return nil, model.Invalidf("Ignition of %s: %s: %s", m.name, err, strings.TrimSpace(report.String()))
	}
	spec := map[string]any{"config": json.RawMessage(config)}
	if len(m.kernelArguments) > 0 {
		spec["kernelArguments"] = m.kernelArguments
	}
	return yaml.Marshal(map[string]any{
		"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig",
		"metadata": map[string]any{
			"name":   m.name,
			"labels": map[string]string{"machineconfiguration.openshift.io/role": string(m.role)},
		},
		"spec": spec,
	})
}

// file makes the manifest in the folder for objects of OpenShift's own kinds.
func (m machineConfig) file(name string) (File, error) {
	content, err := m.yaml()
	return File{Folder: FolderOpenShift, Name: name, Content: content}, err
}

// addFile makes Ignition write a file, replacing an existing one.
func (m *machineConfig) addFile(path string, mode int, content []byte) {
	m.config.Storage.Files = append(m.config.Storage.Files, types.File{
		Node: types.Node{Path: path, Overwrite: util.BoolToPtr(true)},
		FileEmbedded1: types.FileEmbedded1{
			Mode: util.IntToPtr(mode), Contents: types.Resource{Source: util.StrToPtr(dataurl.EncodeBytes(content))},
		},
	})
}

// addUnit makes systemd start a unit.
func (m *machineConfig) addUnit(name string, content []byte) {
	m.config.Systemd.Units = append(m.config.Systemd.Units, types.Unit{
		Name: name, Enabled: util.BoolToPtr(true), Contents: util.StrToPtr(string(content)),
	})
}

// File modes in the decimal that Ignition writes.
const (
	modeFile   = 0o644
	modeScript = 0o755
)
