package settings

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"

	"slipway/internal/cluster/lifecycle"
)

// first are the settings that a new service needs before all others.
var first = []string{"listen", "base-url", "data-dir", "database-url"}

const exampleHead = `# Settings of Slipway, read by slipway up and the other commands of the service. A flag wins over its variable, and a variable over
# this file. Values below are the defaults; an empty one has none. Take the # of a line away to change it, and restart the service.
#
#   slipway config check    reads the settings as a start would
#   slipway config show     prints each with its value and where that is from
`

// Example prints a file with all settings, commented out: a file that changes nothing.
func Example(w io.Writer) error {
	text := &strings.Builder{}
	text.WriteString(exampleHead)
	known := flags()
	slices.SortStableFunc(known, func(a, b *kong.Flag) int { return rank(a.Name) - rank(b.Name) })
	var seen []string
	for _, f := range known {
		if slices.Contains(seen, f.Name) || len(f.Envs) == 0 { // slipway images has some of the same; others are for one start
			continue
		}
		seen = append(seen, f.Name)
		if err := exampleOf(text, f.Name, f.Default, f.Help); err != nil {
			return err
		}
	}
	text.WriteString("\n# Settings of other deployments of the v2 API, by their names.\n")
	for _, v := range variables {
		if err := exampleOf(text, v.name, v.dflt, v.why); err != nil {
			return err
		}
	}
	text.WriteString("\n# Time-outs. An installation keeps the values it began with.\n")
	for _, t := range lifecycle.TimeoutSettings() {
		if err := exampleOf(text, t.Name, timeoutText(t.Default), t.Why); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// rank orders the settings: the first ones, then the others as they are declared.
func rank(name string) int {
	if n := slices.Index(first, name); n >= 0 {
		return n
	}
	return len(first)
}

// exampleOf prints a setting below a comment.
func exampleOf(text *strings.Builder, name, dflt, help string) error {
	line := strings.TrimSuffix(name+": "+dflt, " ")
	var plain map[string]yaml.Node
	if err := yaml.Unmarshal([]byte(line), &plain); err != nil || plain[name].Value != dflt {
		quoted, err := yaml.Marshal(map[string]string{name: dflt})
		if err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
		line = strings.TrimSuffix(string(quoted), "\n")
	}
	text.WriteString("\n")
	for _, part := range wrapped(help, 120) {
		text.WriteString("# " + part + "\n")
	}
	text.WriteString("#" + line + "\n")
	return nil
}

// timeoutText returns the value of a time-out as its variable has it; 0 is none.
func timeoutText(d time.Duration) string {
	switch {
	case d == 0:
		return "false"
	case d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return strings.TrimSuffix(d.String(), "0s")
}

// wrapped splits a text at blanks into lines of at most so many bytes, where its words allow it.
func wrapped(text string, most int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > most {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}
