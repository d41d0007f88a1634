package settings

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/alecthomas/kong"
	"go.temporal.io/sdk/contrib/envconfig"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
)

const (
	// prefix begins variables that are ours alone.
	prefix = "SLIPWAY_"
	// temporalPrefix begins variables of Temporal's own tools, see go.temporal.io/sdk/contrib/envconfig.
	temporalPrefix = "TEMPORAL_"
)

// mayHoldSecrets are addresses that may have a password, and a variable of Temporal's tools. Flags of type model.Secret are secrets
// by their type.
var mayHoldSecrets = []string{"database-url", "blob-url", "TEMPORAL_API_KEY"}

// ofUsers lists variables of the commands of users and of programs beside the service.
var ofUsers = []string{"SLIPWAY_URL", "SLIPWAY_TOKEN", "SLIPWAY_CONTEXT", "SLIPWAY_CONFIG", "SLIPWAY_CA_FILE", "SLIPWAY_ROOT"}

// flags lists the flags of all commands that run a part of the service, without --config itself.
func flags() []*kong.Flag {
	all := slices.Concat(flagsOf(&Up{}), flagsOf(&ImageService{}), flagsOf(&Backup{}))
	return slices.DeleteFunc(all, func(f *kong.Flag) bool { return f.Name == "config" })
}

// flagsOf lists the flags of a command.
func flagsOf[T any](command *T) []*kong.Flag {
	line := struct {
		Log     Log `embed:"" prefix:"log-"`
		Command *T  `embed:""`
	}{Command: command}
	parser, err := kong.New(&line, kong.Name("slipway"), kong.NoDefaultHelp())
	if err != nil {
		panic(err) // tags of the structs of this package are wrong: each start and each test fails
	}
	return slices.Clone(parser.Model.Flags)
}

// names lists the names of all settings: flags, and variables that have none.
func names(flags []*kong.Flag) (all []string) {
	for _, f := range flags {
		all = append(all, f.Name)
	}
	for _, v := range plainVariables() {
		all = append(all, v.name)
	}
	return all
}

// secrets lists the names of settings that may hold a secret.
func secrets(flags []*kong.Flag) []string {
	all := slices.Clone(mayHoldSecrets)
	for _, f := range flags {
		if f.Target.Type() == reflect.TypeFor[model.Secret]() {
			all = append(all, f.Name)
		}
	}
	return all
}

// plainVariables lists the settings that have no flag.
func plainVariables() []variable {
	all := slices.Clone(variables)
	for _, row := range lifecycle.TimeoutSettings() {
		all = append(all, variable{name: row.Name, dflt: row.Default.String()})
	}
	return all
}

// nearest returns the known name that differs in the fewest letters, and in at most so many; empty: none does.
func nearest(name string, known []string, most int) string {
	found := ""
	for _, candidate := range known {
		if d := levenshtein.ComputeDistance(strings.ToLower(name), strings.ToLower(candidate)); d <= most {
			found, most = candidate, d-1
		}
	}
	return found
}

// refuseMisspelled returns an error for variables with our prefix that are nearly the name of a setting. Others are of
// programs beside the service.
func refuseMisspelled(env envconfig.EnvLookup, flags []*kong.Flag) error {
	known := append([]string{"SLIPWAY_CONFIG_FILE"}, ofUsers...)
	for _, f := range flags {
		known = append(known, f.Envs...)
	}
	var wrong []error
	for _, pair := range env.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, prefix) || slices.Contains(known, name) {
			continue
		}
		ours := slices.DeleteFunc(slices.Clone(known), func(k string) bool { return !strings.HasPrefix(k, prefix) })
		if near := nearest(name, ours, min(2, (len(name)-len(prefix))/4)); near != "" {
			wrong = append(wrong, fmt.Errorf("read %s: there is no such setting (did you mean %s?)", name, near))
		}
	}
	return errors.Join(wrong...)
}
