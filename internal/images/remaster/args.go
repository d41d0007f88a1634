package remaster

import (
	"slices"
	"strings"

	"slipway/internal/model"
)

// liveISO is the kernel argument that names the volume of a full image: the system looks
// for its root file system there. A minimal image fetches it instead.
const liveISO = "coreos.liveiso="

// ChangedArguments returns arguments with a user's changes, the way coreos-installer applies them: append and
// delete take an argument, replace takes KEY=OLD=NEW. A change of a missing argument changes nothing.
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

// splitArguments splits a command line at its blanks, but not within double quotes, as the kernel does
// (lib/cmdline.c).
func splitArguments(line string) []string {
	quoted := false
	return strings.FieldsFunc(line, func(r rune) bool {
		if r == '"' {
			quoted = !quoted
		}
		return !quoted && (r == ' ' || r == '\t')
	})
}

// quoteForGrub quotes an argument: unquoted, some characters end a command of GRUB's shell. Quoted arguments
// stay unchanged.
func quoteForGrub(arg string) string {
	if strings.ContainsAny(arg, "&|;<>$\\") && !strings.ContainsAny(arg, `"'`) {
		return "'" + arg + "'"
	}
	return arg
}
