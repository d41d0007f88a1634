package frontend

import (
	"bytes"
	_ "embed"
)

// titlesScript titles the page of a workflow by the names of its host and cluster, which are search attributes. The module's
// own title is the workflow's id, and a browser with five clusters open shows five tabs of ids.
//
//go:embed uititles.js
var titlesScript []byte

// withTitles adds the script to the start page.
func withTitles(page []byte) []byte {
	script := append(append([]byte("<script>"), titlesScript...), "</script></head>"...)
	return bytes.Replace(page, []byte("</head>"), script, 1)
}
