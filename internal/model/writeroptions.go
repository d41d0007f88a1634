package model

import (
	"slices"
	"strconv"
	"strings"
)

// WriterOption is an option of coreos-installer install.
type WriterOption struct {
	Name   string // the long name
	Value  string
	Valued bool
}

// Names of options that the service reads.
const (
	CopyNetwork = "--copy-network"
	AppendKarg  = "--append-karg"
	// Unsigned lets an image have no signature. A signature that the image has is verified nevertheless.
	Unsigned = "--insecure"
)

// imageOptions name an image in the place of the live system's own.
var imageOptions = []string{"--image-url", "--image-file"}

// NamesImage reports whether arguments of coreos-installer name an image.
func NamesImage(args []string) bool {
	return slices.ContainsFunc(WriterOptions(args), func(o WriterOption) bool { return slices.Contains(imageOptions, o.Name) })
}

// WriterOptions reads arguments of coreos-installer in each of its spellings: a value after a blank or after a sign, and the short
// name of CopyNetwork. Other short names are left as they are.
func WriterOptions(args []string) []WriterOption {
	var out []WriterOption
	for n := 0; n < len(args); n++ {
		name, value, inline := strings.Cut(args[n], "=")
		switch {
		case args[n] == "-n" || args[n] == CopyNetwork:
			if !slices.Contains(out, WriterOption{Name: CopyNetwork}) { // coreos-installer takes it once
				out = append(out, WriterOption{Name: CopyNetwork})
			}
		case !writerOptions[name]:
			out = append(out, WriterOption{Name: args[n]})
		case inline:
			out = append(out, WriterOption{Name: name, Value: value, Valued: true})
		case n+1 < len(args):
			n++
			out = append(out, WriterOption{Name: name, Value: args[n], Valued: true})
		default:
			out = append(out, WriterOption{Name: name})
		}
	}
	return out
}

// WriterArgs writes options in the spelling that all agents accept: names and values are words of their own, and only a name begins with
// a hyphen. Agents of openshift/assisted-installer-agent refuse other arguments (openshift/assisted-service, pkg/validations,
// ValidateInstallerArgs).
func WriterArgs(options []WriterOption) []string {
	var out []string
	for _, o := range options {
		out = append(out, o.Name)
		if o.Valued {
			out = append(out, fromFirst(o))
		}
	}
	return out
}

// fromFirst writes a range of partitions that has no beginning with its beginning: -4 is 1-4.
func fromFirst(o WriterOption) string {
	if o.Name != savePartIndex {
		return o.Value
	}
	parts := strings.Split(o.Value, ",")
	for i, part := range parts {
		if end, found := strings.CutPrefix(part, "-"); found {
			if _, err := strconv.ParseUint(end, 10, 32); err == nil {
				parts[i] = "1-" + end
			}
		}
	}
	return strings.Join(parts, ",")
}
