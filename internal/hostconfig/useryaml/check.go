// Package useryaml checks YAML that users write before it is read. An alias repeats its target, so a few lines can stand for more than
// any memory holds: such documents are refused.
package useryaml

import (
	"bytes"

	tree "go.yaml.in/yaml/v3"

	"slipway/internal/model"
)

// Check refuses a document that grows beyond limit bytes when it becomes JSON with a model.ErrInvalid. Invalid YAML is left to the
// reader of the document.
func Check(content []byte, limit int) error {
	if len(content) > limit {
		return model.Invalidf("require at most %d bytes, found %d", limit, len(content))
	}
	var root tree.Node
	if err := tree.Unmarshal(content, &root); err != nil {
		// Later readers know an older YAML: documents that only they can read may hold no aliases.
		if bytes.ContainsRune(content, '&') && bytes.ContainsRune(content, '*') {
			return model.Invalidf("require YAML 1.2 where there are aliases: %s", err)
		}
		return nil
	}
	e := expansion{limit: limit, sizes: map[*tree.Node]int{}}
	if size := e.of(&root); size > limit {
		return model.Invalidf("more than %d bytes after aliases are replaced", limit)
	}
	return nil
}

// expansion remembers the sizes of nodes; a node being measured has the limit as its size, because it contains itself.
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
