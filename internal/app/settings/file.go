package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.yaml.in/yaml/v3"
)

// DefaultFile is read where it exists and no other file is named.
const DefaultFile = "/etc/slipway/slipway.yaml"

// ConfigFile names the file with settings of a command that runs a part of the service.
type ConfigFile struct {
	Config string `name:"config" env:"SLIPWAY_CONFIG_FILE" type:"path" help:"YAML file with settings, named as flags or variables are; by default /etc/slipway/slipway.yaml, where it exists." placeholder:"FILE"`
}

// Sources are where settings come from, beside flags: a variable wins over the file.
type Sources struct {
	Env  envconfig.EnvLookup
	File *File // nil: there is none
	// Default is the file that is read where none is named; it may be missing.
	Default string
}

// File is a file with settings.
type File struct {
	Path   string
	env    envconfig.EnvLookup
	values map[string]*yaml.Node
}

// BeforeResolve reads the file when its command was selected. kong calls it before it looks for required flags.
func (*ConfigFile) BeforeResolve(ctx *kong.Context, trace *kong.Path, s *Sources) error {
	known := flags()
	if err := refuseMisspelled(s.Env, known); err != nil {
		return err
	}
	path, named := "", false
	for _, flag := range trace.Flags {
		if flag.Name == "config" {
			path, _ = ctx.FlagValue(flag).(string)
			named = path != ""
		}
	}
	if !named {
		path = s.Default
	}
	file, err := readFile(path, s.Env, known)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return nil
	}
	if err != nil {
		return err
	}
	s.File = file
	ctx.AddResolver(file)
	return nil
}

func readFile(path string, env envconfig.EnvLookup, known []*kong.Flag) (*File, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	f := &File{Path: path, env: env, values: map[string]*yaml.Node{}}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("read settings from %s: %w", path, err)
	}
	if len(document.Content) == 0 {
		return f, nil
	}
	if err := f.take(document.Content[0], names(known)); err != nil {
		return nil, fmt.Errorf("read settings from %s: %w", path, err)
	}
	for _, name := range secrets(known) {
		if mode := info.Mode().Perm(); f.values[name] != nil && mode&0o007 != 0 {
			return nil, fmt.Errorf("read settings from %s: require a file that other users cannot read, because it has %s, found mode %#o",
				path, name, mode)
		}
	}
	return f, nil
}

// take reads the pairs of the mapping; the error names all that are wrong.
func (f *File) take(root *yaml.Node, known []string) error {
	if root.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: require names of settings with their values, such as `listen: 0.0.0.0:8090`", root.Line)
	}
	var wrong []error
	for n := 0; n < len(root.Content); n += 2 {
		key, value := root.Content[n], root.Content[n+1]
		switch {
		case f.values[key.Value] != nil:
			wrong = append(wrong, fmt.Errorf("line %d: %s is set twice", key.Line, key.Value))
		case !slices.Contains(known, key.Value) && !strings.HasPrefix(key.Value, temporalPrefix):
			hint := nearest(key.Value, known, len(key.Value)/3)
			if hint != "" {
				hint = " (did you mean " + hint + "?)"
			}
			wrong = append(wrong, fmt.Errorf("line %d: require the name of a setting, found %q%s", key.Line, key.Value, hint))
		case value.Tag == "!!null":
			wrong = append(wrong, fmt.Errorf("line %d: %s requires a value", key.Line, key.Value))
		}
		f.values[key.Value] = value
	}
	return errors.Join(wrong...)
}

// Validate implements kong.Resolver: take has compared the names.
func (*File) Validate(*kong.Application) error { return nil }

// Resolve returns the value of a flag as text, or nil where the file has none or a variable wins over it.
func (f *File) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	value := f.values[flag.Name]
	if value == nil || variableOf(flag, f.env) != "" {
		return nil, nil //nolint:nilnil // kong asks for it
	}
	if flag.IsSlice() {
		return textOf(value, string(flag.Tag.Sep))
	}
	return textOf(value, "")
}

// variableOf returns the variable that sets a flag; empty: none does.
func variableOf(flag *kong.Flag, env envconfig.EnvLookup) string {
	for _, name := range flag.Envs {
		if _, set := lookup(env, name); set {
			return name
		}
	}
	return ""
}

// lookup looks a variable of the process up. An empty one is not set.
func lookup(env envconfig.EnvLookup, name string) (string, bool) {
	value, set := env.LookupEnv(name)
	return value, set && strings.TrimSpace(value) != ""
}

// textOf writes a value as a flag has it: lists with their separator, other collections in JSON.
func textOf(value *yaml.Node, separator string) (string, error) {
	if value.Kind == yaml.AliasNode {
		value = value.Alias
	}
	if value.Kind == yaml.ScalarNode {
		return value.Value, nil
	}
	if value.Kind == yaml.SequenceNode && separator != "" {
		var items []string
		for _, item := range value.Content {
			if item.Kind != yaml.ScalarNode || strings.Contains(item.Value, separator) {
				return "", fmt.Errorf("line %d: require a list of texts without %q", item.Line, separator)
			}
			items = append(items, item.Value)
		}
		return strings.Join(items, separator), nil
	}
	var content any
	if err := value.Decode(&content); err != nil {
		return "", err
	}
	out, err := json.Marshal(content)
	return string(out), err
}

// Variables looks variables up that have no flag: in the environment first, then in the file.
func (s *Sources) Variables() envconfig.EnvLookup {
	if s.File == nil {
		return s.Env
	}
	return s.File
}

// Environ lists the variables of the process, then variables that only the file sets.
func (f *File) Environ() []string {
	all := f.env.Environ()
	for name := range f.values {
		if _, set := lookup(f.env, name); set || strings.ToUpper(name) != name {
			continue
		}
		if value, found := f.LookupEnv(name); found {
			all = append(all, name+"="+value)
		}
	}
	return all
}

// LookupEnv looks a variable up in the process, then in the file.
func (f *File) LookupEnv(name string) (string, bool) {
	if value, set := lookup(f.env, name); set {
		return value, true
	}
	value := f.values[name]
	if value == nil {
		return "", false
	}
	text, err := textOf(value, ",")
	return text, err == nil
}
