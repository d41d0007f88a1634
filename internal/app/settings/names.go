package settings

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/alecthomas/kong"
	"go.temporal.io/sdk/contrib/envconfig"

	"slipway/internal/cluster/lifecycle"
)

const (
	// prefix begins variables that are ours alone.
	prefix = "SLIPWAY_"
	// temporalPrefix begins variables of Temporal's own tools, see go.temporal.io/sdk/contrib/envconfig.
	temporalPrefix = "TEMPORAL_"
)

// secretNames are settings that hold a secret, or an address that may have one.
var secretNames = []string{
	"private-key", "oidc-client-secret", "database-url", "blob-url", "image-download-headers", "image-download-query",
	"TEMPORAL_API_KEY",
}

// ofUsers are variables of the commands of users, and of the programs beside the service.
var ofUsers = []string{"SLIPWAY_URL", "SLIPWAY_TOKEN", "SLIPWAY_CONTEXT", "SLIPWAY_CONFIG", "SLIPWAY_CA_FILE", "SLIPWAY_ROOT"}

// flags are the flags of all commands that run a part of the service, without --config itself.
func flags() []*kong.Flag { return append(flagsOf(&Up{}), flagsOf(&ImageService{})...) }

func flagsOf[T any](command *T) []*kong.Flag {
	line := struct {
		Log     Log `embed:"" prefix:"log-"`
		Command *T  `embed:""`
	}{Command: command}
	parser, err := kong.New(&line, kong.Name("slipway"))
	if err != nil {
		panic(err) // tags of the structs of this package are wrong: each start and each test fails
	}
	return slices.DeleteFunc(slices.Clone(parser.Model.Flags), func(f *kong.Flag) bool { return f.Name == "help" || f.Name == "config" })
}

// names are the names of all settings: flags, and variables that have none.
func names() (all []string) {
	for _, f := range flags() {
		all = append(all, f.Name)
	}
	for _, row := range variables {
		all = append(all, row.name)
	}
	for _, row := range lifecycle.TimeoutSettings() {
		all = append(all, row.Name)
	}
	return all
}

// didYouMean names the nearest of the known names, if one is near.
func didYouMean(name string, known []string) string {
	nearest, least := "", len(name)/3+1
	for _, candidate := range known {
		if d := levenshtein.ComputeDistance(strings.ToLower(name), strings.ToLower(candidate)); d < least {
			nearest, least = candidate, d
		}
	}
	if nearest == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", nearest)
}

// refuseMisspelled returns an error for variables with our prefix that are nearly the name of a setting. Others are of
// programs beside the service.
func refuseMisspelled(env envconfig.EnvLookup) error {
	known := append([]string{"SLIPWAY_CONFIG_FILE"}, ofUsers...)
	for _, f := range flags() {
		known = append(known, f.Envs...)
	}
	var wrong []error
	for _, pair := range env.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, prefix) || slices.Contains(known, name) {
			continue
		}
		if near := nearly(strings.TrimPrefix(name, prefix), known); near != "" {
			wrong = append(wrong, fmt.Errorf("read %s: there is no such setting (did you mean %s?)", name, near))
		}
	}
	return errors.Join(wrong...)
}

// nearly is the variable of ours that differs from a name, without the prefix, by a letter or two.
func nearly(name string, known []string) string {
	for _, candidate := range known {
		ours, isOurs := strings.CutPrefix(candidate, prefix)
		if isOurs && levenshtein.ComputeDistance(name, ours) <= min(2, len(name)/4) {
			return candidate
		}
	}
	return ""
}
