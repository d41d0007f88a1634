package pages

import (
	_ "embed"
	"html/template"
	"time"

	plain "slipway/internal/cli/view"
	"slipway/internal/wire"
)

//go:embed pages.html
var source string

// view holds the values that a page shows.
type view struct {
	Path, SignOut, Title string
	Reason               string // of a failure

	List   wire.Installations
	Offset int

	Cluster       wire.Timeline
	Events, Hosts int // offsets
}

var templates = template.Must(template.New("pages").Funcs(template.FuncMap{
	// text replaces control characters: hosts choose some of the texts.
	"text": plain.Plain,
	"time": moment,
}).Parse(source))

// moment writes a time as people read it; empty for none.
func moment(t any) string {
	var at time.Time
	switch t := t.(type) {
	case wire.DateTime:
		at = t.Time()
	case *wire.DateTime:
		if t != nil {
			at = t.Time()
		}
	}
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format("2006-01-02 15:04:05")
}
