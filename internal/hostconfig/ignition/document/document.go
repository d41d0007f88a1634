// Package document reads, merges and edits Ignition configs of any specification version without raising it:
// the image that a host boots determines what its Ignition understands. It requires neither templates nor
// Butane, so that small programs can use it.
package document

import (
	"encoding/json"
	"fmt"

	"slipway/internal/model"
)

// Document is an Ignition config whose files can be edited in place. Every value that is not edited stays
// unchanged, including unknown ones.
type Document struct {
	root    map[string]json.RawMessage
	storage map[string]json.RawMessage
	files   []*File
}

// Parse reads a config after checking it against the specification it names. An error is a model.ErrInvalid
// that names the place in the config.
func Parse(data []byte) (*Document, error) {
	if err := Check(data); err != nil {
		return nil, err
	}
	d := &Document{}
	if err := json.Unmarshal(data, &d.root); err != nil {
		return nil, fmt.Errorf("read config: %w", err)
	}
	if raw, ok := d.root["storage"]; ok {
		if err := json.Unmarshal(raw, &d.storage); err != nil {
			return nil, fmt.Errorf("read storage: %w", err)
		}
	}
	if raw, ok := d.storage["files"]; ok {
		if err := json.Unmarshal(raw, &d.files); err != nil {
			return nil, fmt.Errorf("read storage.files: %w", err)
		}
	}
	return d, nil
}

// Files returns the files of the config in their order; edit them in place.
func (d *Document) Files() []*File { return d.files }

// File returns the file at path; model.ErrNotFound when it does not exist.
func (d *Document) File(path string) (*File, error) {
	for _, f := range d.files {
		if f.Path == path {
			return f, nil
		}
	}
	return nil, model.NotFoundf("no file %s in the Ignition config", path)
}

// RemoveFiles drops the files for which drop is true.
func (d *Document) RemoveFiles(drop func(*File) bool) {
	kept := make([]*File, 0, len(d.files))
	for _, f := range d.files {
		if !drop(f) {
			kept = append(kept, f)
		}
	}
	d.files = kept
}

// Sources calls replace with the address of every config that this one merges and stores the result.
func (d *Document) Sources(replace func(string) string) error {
	var ignition, config map[string]json.RawMessage
	var merged []map[string]json.RawMessage
	if err := unmarshal(d.root["ignition"], &ignition); err != nil {
		return fmt.Errorf("read ignition: %w", err)
	}
	if err := unmarshal(ignition["config"], &config); err != nil {
		return fmt.Errorf("read ignition.config: %w", err)
	}
	if err := unmarshal(config["merge"], &merged); err != nil {
		return fmt.Errorf("read ignition.config.merge: %w", err)
	}
	for _, m := range merged {
		var source string
		if err := unmarshal(m["source"], &source); err != nil {
			return fmt.Errorf("read ignition.config.merge.source: %w", err)
		}
		if source != "" {
			m["source"] = marshal(replace(source))
		}
	}
	if len(merged) > 0 {
		config["merge"] = marshal(merged)
		ignition["config"] = marshal(config)
		d.root["ignition"] = marshal(ignition)
	}
	return nil
}

// Bytes returns the edited config.
func (d *Document) Bytes() ([]byte, error) {
	if d.storage != nil {
		d.storage["files"] = marshal(d.files)
		if len(d.files) == 0 {
			delete(d.storage, "files")
		}
		d.root["storage"] = marshal(d.storage)
	}
	return json.Marshal(d.root)
}

// unmarshal leaves to unchanged when the input is empty.
func unmarshal(raw json.RawMessage, to any) error {
	if len(raw) == 0 {
		return nil
	}
	return json.Unmarshal(raw, to)
}

// marshal writes values read from JSON before; that cannot fail.
func marshal(v any) json.RawMessage {
	data, _ := json.Marshal(v)
	return data
}
