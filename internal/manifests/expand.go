package manifests

import (
	"bytes"

	yaml "go.yaml.in/yaml/v3"

	"slipway/internal/model"
)

// maxExpanded bounds what a document is once its aliases are replaced by what they stand
// for, in bytes: a few lines of YAML can stand for more than any memory holds.
const maxExpanded = 8 << 20

// checkExpansion refuses a document that grows beyond reason when it becomes JSON. What
// cannot be read at all is left to who reads it.
func checkExpansion(content []byte) error {
	var root yaml.Node
	if err := yaml.Unmarshal(content, &root); err != nil {
		// The readers that follow know an older YAML: what only they can read may hold no aliases.
		if bytes.ContainsRune(content, '&') && bytes.ContainsRune(content, '*') {
			return model.Invalidf("require YAML 1.2 where there are aliases: %s", err)
		}
		return nil
	}
	e := expansion{sizes: map[*yaml.Node]int{}}
	if size := e.of(&root); size > maxExpanded {
		return model.Invalidf("require at most %d bytes after aliases are replaced, found more", maxExpanded)
	}
	return nil
}

// expansion remembers the sizes of nodes; that of one being measured is the limit, for
// it contains itself.
type expansion struct{ sizes map[*yaml.Node]int }

func (e expansion) of(n *yaml.Node) int {
	if size, known := e.sizes[n]; known {
		return size
	}
	e.sizes[n] = maxExpanded + 1
	size := len(n.Value) + 1
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		size = e.of(n.Alias)
	}
	for _, child := range n.Content {
		if size += e.of(child); size > maxExpanded {
			break
		}
	}
	e.sizes[n] = min(size, maxExpanded+1)
	return e.sizes[n]
}
