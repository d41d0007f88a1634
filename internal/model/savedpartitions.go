package model

import "strings"

// SavedPartitions returns the partitions that the arguments of coreos-installer keep on the disk it writes: globs of partition labels,
// and numbers or ranges of them, in the order of the arguments. Every other argument loses the whole disk; --preserve-on-error too,
// which keeps a half-written partition table and no data.
func SavedPartitions(args []string) (labels, indexes []string) {
	for _, o := range WriterOptions(args) {
		switch o.Name {
		case savePartLabel:
			labels = append(labels, strings.Split(o.Value, ",")...)
		case savePartIndex:
			indexes = append(indexes, strings.Split(o.Value, ",")...)
		}
	}
	return labels, indexes
}

// SavesPartitions reports whether the arguments of coreos-installer keep, or may keep, partitions of the disk. A config
// file may hold the same options, and the host that reads it is elsewhere.
func SavesPartitions(args []string) bool {
	labels, indexes := SavedPartitions(args)
	return len(labels)+len(indexes) > 0 || namesConfigFile(args)
}

const (
	savePartLabel = "--save-partlabel"
	savePartIndex = "--save-partindex"
)

// writerOptions are the options of coreos-installer install that take a value, by their long names: a value may look
// like an option.
var writerOptions = map[string]bool{
	savePartLabel: true, savePartIndex: true, "--config-file": true, "--stream": true, "--image-url": true,
	"--image-file": true, "--ignition-file": true, "--ignition": true, "--ignition-url": true, "--ignition-hash": true,
	"--architecture": true, "--platform": true, "--console": true, "--firstboot-args": true, AppendKarg: true,
	"--delete-karg": true, "--network-dir": true, "--stream-base-url": true, "--fetch-retries": true,
}

// namesConfigFile finds -c and --config-file. Short options may stand in one word, up to the first option with a value.
func namesConfigFile(args []string) bool {
	const withValue = "sufiIap"
	for n := 0; n < len(args); n++ {
		arg := args[n]
		name, _, inline := strings.Cut(arg, "=")
		if name == "--config-file" {
			return true
		}
		if strings.HasPrefix(arg, "--") || !strings.HasPrefix(arg, "-") {
			if writerOptions[name] && !inline {
				n++
			}
			continue
		}
		for at, letter := range arg[1:] {
			if letter == 'c' {
				return true
			}
			if strings.ContainsRune(withValue, letter) {
				if at == len(arg)-2 {
					n++
				}
				break
			}
		}
	}
	return false
}
