package events

import (
	"maps"
	"slices"
	"time"

	"slipway/internal/model"
)

// Entry is an event of the catalogue, for documentation.
type Entry struct {
	Name     Name
	Severity model.Severity
	Props    []string      // in the order of the contract
	Message  string        // words in braces are properties
	Every    time.Duration // written at most once in that time with the same message; 0: always
	Why      string        // of Every
}

// Catalogue lists every event, by name.
func Catalogue() []Entry {
	var out []Entry
	for _, name := range slices.Sorted(maps.Keys(catalogue)) {
		e := catalogue[name]
		out = append(out, Entry{name, e.severity, slices.Clone(e.props), e.message, quiet[name].every, quiet[name].why})
	}
	return out
}
