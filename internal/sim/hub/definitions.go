package hub

import (
	"bytes"
	"embed"
	"io/fs"
)

//go:embed definitions/*.yaml
var definitions embed.FS

// Definitions returns the resources of hive that an installation needs, as openshift/hive defines them, in YAML documents. A hub has them
// with hive itself.
func Definitions() ([]byte, error) {
	files, err := fs.Glob(definitions, "definitions/*.yaml")
	if err != nil {
		return nil, err
	}
	var list [][]byte
	for _, file := range files {
		content, err := definitions.ReadFile(file)
		if err != nil {
			return nil, err
		}
		list = append(list, content)
	}
	return bytes.Join(list, []byte("\n---\n")), nil
}
