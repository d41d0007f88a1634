package document

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/vincent-petithory/dataurl"
)

// maxFile bounds the size of one unpacked file, in bytes.
const maxFile = 64 << 20

// ErrRemote: the contents of a file are not in the config but at another address.
var ErrRemote = errors.New("contents are not in the config")

// File is one entry of storage.files.
type File struct {
	Path   string
	fields map[string]json.RawMessage
}

// resource is where contents come from (Ignition specification, storage.files.contents).
type resource struct {
	Source      *string         `json:"source,omitempty"`
	Compression *string         `json:"compression,omitempty"`
	HTTPHeaders json.RawMessage `json:"httpHeaders,omitempty"`
	// Verification is a hash of the contents, so it is not kept when they change.
	Verification json.RawMessage `json:"verification,omitempty"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *File) UnmarshalJSON(data []byte) error {
	if err := json.Unmarshal(data, &f.fields); err != nil {
		return err
	}
	return json.Unmarshal(f.fields["path"], &f.Path)
}

// MarshalJSON implements json.Marshaler.
func (f *File) MarshalJSON() ([]byte, error) { return json.Marshal(f.fields) }

// Content returns the contents of the file, unpacked; nil when it has none. It returns
// ErrRemote when they are at an address.
func (f *File) Content() ([]byte, error) {
	var r resource
	if err := unmarshal(f.fields["contents"], &r); err != nil {
		return nil, fmt.Errorf("read contents of %s: %w", f.Path, err)
	}
	data, err := r.content()
	if err != nil {
		return nil, fmt.Errorf("read contents of %s: %w", f.Path, err)
	}
	return data, nil
}

func (r resource) content() ([]byte, error) {
	if r.Source == nil || *r.Source == "" {
		return nil, nil
	}
	if len(*r.Source) < 5 || (*r.Source)[:5] != "data:" {
		return nil, ErrRemote
	}
	u, err := dataurl.DecodeString(*r.Source)
	if err != nil {
		return nil, err
	}
	if r.Compression == nil || *r.Compression == "" {
		return u.Data, nil
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(u.Data))
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(unpacked, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("require at most %d bytes", maxFile)
	}
	return data, err
}

// SetContent replaces the contents of the file.
func (f *File) SetContent(data []byte) {
	source := "data:text/plain;charset=utf-8;base64," + base64.StdEncoding.EncodeToString(data)
	f.fields["contents"] = marshal(resource{Source: &source})
}

// AddFile adds a file that the config does not have yet, with the permissions of mode.
func (d *Document) AddFile(path string, mode int, data []byte) {
	// Base64 would be shorter, but not once the config is packed.
	source := "data:," + dataurl.Escape(data)
	d.files = append(d.files, &File{Path: path, fields: map[string]json.RawMessage{
		"path": marshal(path), "mode": marshal(mode), "contents": marshal(resource{Source: &source}),
	}})
	if d.storage == nil {
		d.storage = map[string]json.RawMessage{}
	}
}

// Overwrite makes a file that adds to an existing one replace it: its first addition
// becomes its contents.
func (f *File) Overwrite() error {
	var additions []json.RawMessage
	if err := unmarshal(f.fields["append"], &additions); err != nil {
		return fmt.Errorf("read append of %s: %w", f.Path, err)
	}
	if len(additions) > 0 {
		f.fields["contents"] = additions[0]
		delete(f.fields, "append")
	}
	f.fields["overwrite"] = json.RawMessage("true")
	return nil
}
