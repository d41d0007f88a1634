package remaster

import (
	"slices"
	"strings"

	"slipway/internal/model"
)

// liveISO is the kernel argument that names the volume of a full image: the system looks
// for its root file system there. A minimal image fetches it instead.
const liveISO = "coreos.liveiso="

// ChangedArguments are arguments with what a user changes, the way coreos-installer does:
// append and delete take an argument, replace takes KEY=OLD=NEW. A change of an argument
// that is not there changes nothing.
func ChangedArguments(args []string, changes []model.KernelArgument) []string {
	args = slices.Clone(args)
	for _, c := range changes {
		switch c.Operation {
		case "append":
			args = append(args, c.Value)
		case "delete":
			args = slices.DeleteFunc(args, func(a string) bool { return a == c.Value })
		case "replace":
			parts := strings.SplitN(c.Value, "=", 3)
			if len(parts) < 3 {
				continue // refused when it was set
			}
			for i, a := range args {
				if a == parts[0]+"="+parts[1] {
					args[i] = parts[0] + "=" + parts[2]
				}
			}
		}
	}
	return args
}

// splitArguments splits a command line at its blanks, but not at those between double
// quotes, as the kernel does (lib/cmdline.c).
func splitArguments(line string) []string {
	quoted := false
	return strings.FieldsFunc(line, func(r rune) bool {
		if r == '"' {
			quoted = !quoted
		}
		return !quoted && (r == ' ' || r == '\t')
	})
}

// quoteForGrub keeps an argument in one piece: unquoted, some signs end a command of
// GRUB's shell. What is quoted already stays as it is.
func quoteForGrub(arg string) string {
	if strings.ContainsAny(arg, "&|;<>$\\") && !strings.ContainsAny(arg, `"'`) {
		return "'" + arg + "'"
	}
	return arg
}
