// Package useryaml reads YAML that users write. A few lines of it can stand for more
// than any memory holds, for an alias repeats what it refers to; what grows beyond reason
// is refused before it is read.
package useryaml

import (
	"bytes"

	tree "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"slipway/internal/model"
)

// Unmarshal reads one document into a value by the JSON tags of its type. A document of
// more than limit bytes, once its aliases are replaced by what they stand for, is a
// model.ErrInvalid; other errors are of the YAML library.
func Unmarshal(content []byte, limit int, into any) error {
	if err := Check(content, limit); err != nil {
		return err
	}
	return yaml.Unmarshal(content, into)
}

// Check refuses a document that grows beyond limit bytes when it becomes JSON with a
// model.ErrInvalid. What cannot be read at all is left to who reads it.
func Check(content []byte, limit int) error {
	if len(content) > limit {
		return model.Invalidf("require at most %d bytes, found %d", limit, len(content))
	}
	var root tree.Node
	if err := tree.Unmarshal(content, &root); err != nil {
		// The readers that follow know an older YAML: what only they can read may hold no aliases.
		if bytes.ContainsRune(content, '&') && bytes.ContainsRune(content, '*') {
			return model.Invalidf("require YAML 1.2 where there are aliases: %s", err)
		}
		return nil
	}
	e := expansion{limit: limit, sizes: map[*tree.Node]int{}}
	if size := e.of(&root); size > limit {
		return model.Invalidf("require at most %d bytes after aliases are replaced, found more", limit)
	}
	return nil
}

// expansion remembers the sizes of nodes; that of one being measured is the limit, for
// it contains itself.
type expansion struct {
	limit int
	sizes map[*tree.Node]int
}

func (e expansion) of(n *tree.Node) int {
	if size, known := e.sizes[n]; known {
		return size
	}
	e.sizes[n] = e.limit + 1
	size := len(n.Value) + 1
	if n.Kind == tree.AliasNode && n.Alias != nil {
		size = e.of(n.Alias)
	}
	for _, child := range n.Content {
		if size += e.of(child); size > e.limit {
			break
		}
	}
	e.sizes[n] = min(size, e.limit+1)
	return e.sizes[n]
}
