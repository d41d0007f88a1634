package app

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// arrange makes a command line that kong reads of one that people type: flags may stand before the command that has them, as kubectl's
// and oc's do, and "help COMMAND" is the help of a command.
func arrange(model *kong.Application, args []string) []string {
	before, rest := leadingFlags(model, args)
	if len(rest) > 0 && rest[0] == "help" {
		rest = append(slices.Clone(rest[1:]), "--help")
	}
	if end := slices.Index(rest, "--"); end >= 0 { // what follows is no flag
		return slices.Concat(rest[:end], before, rest[end:])
	}
	return slices.Concat(rest, before)
}

// leadingFlags divides arguments at the first that is neither a flag nor a flag's value. A flag that no command has ends them as well.
func leadingFlags(model *kong.Application, args []string) (flags, rest []string) {
	if len(args) == 0 || !strings.HasPrefix(args[0], "-") {
		return nil, args
	}
	takes := valueFlags(model.Node)
	n := 0
	for n < len(args) && strings.HasPrefix(args[n], "-") && args[n] != "--" {
		name, _, whole := strings.Cut(args[n], "=")
		value, known := takes[name]
		if !known {
			return nil, args
		}
		n++
		if value && !whole {
			n++
		}
	}
	if n >= len(args) {
		return nil, args
	}
	return args[:n], args[n:]
}

// valueFlags returns the flags of a command and the commands below it, with hyphens, and whether they take a value.
func valueFlags(node *kong.Node) map[string]bool {
	out := map[string]bool{}
	for _, flag := range node.Flags {
		value := !flag.IsBool() && !flag.IsCounter()
		out["--"+flag.Name] = value
		if flag.Short != 0 {
			out["-"+string(flag.Short)] = value
		}
	}
	for _, child := range node.Children {
		for name, value := range valueFlags(child) {
			out[name] = out[name] || value
		}
	}
	return out
}

// asksForJSON reports whether a command line asks for JSON, also one that kong cannot read.
func asksForJSON(args []string) bool {
	for n, arg := range args {
		switch arg {
		case "-o", "--output":
			if n+1 < len(args) && args[n+1] == "json" {
				return true
			}
		case "-ojson", "-o=json", "--output=json":
			return true
		}
	}
	return false
}
