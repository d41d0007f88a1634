package settings

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/alecthomas/kong"

	"slipway/internal/model"
)

// Show prints all settings of a command with their values and origins: a flag, a variable, the file, or the default.
// Secrets are not shown.
func Show(w io.Writer, ctx *kong.Context, s *Sources) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "SETTING\tVALUE\tORIGIN")
	for _, group := range ctx.Path {
		for _, flag := range group.Flags {
			if flag.Name != "help" {
				_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", flag.Name, shown(flag.Name, ctx.FlagValue(flag)), origin(ctx, flag, s))
			}
		}
	}
	for _, v := range plainVariables() {
		value, from := v.dflt, "default"
		if set, found := s.Variables().LookupEnv(v.name); found && strings.TrimSpace(set) != "" {
			value, from = set, "variable "+v.name
			if _, set := lookup(s.Env, v.name); !set {
				from = s.File.Path
			}
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", v.name, cmp.Or(value, "-"), from)
	}
	return table.Flush()
}

// origin says where the value of a flag is from.
func origin(ctx *kong.Context, flag *kong.Flag, s *Sources) string {
	for _, path := range ctx.Path {
		if path.Flag == flag && !path.Resolved {
			return "flag --" + flag.Name
		}
	}
	if name := variableOf(flag, s.Env); name != "" {
		return "variable " + name
	}
	if s.File != nil && s.File.values[flag.Name] != nil {
		return s.File.Path
	}
	return "default"
}

// shown returns the text that is printed of a value.
func shown(name string, value any) string {
	if v, isSecret := value.(model.Secret); isSecret && v != "" {
		return "(secret)"
	}
	text := fmt.Sprint(value)
	if list, isList := value.([]string); isList {
		text = strings.Join(list, ", ")
	}
	switch {
	case text == "" || text == "<nil>":
		return "-"
	case slices.Contains(mayHoldSecrets, name):
		if address, err := url.Parse(text); err == nil && address.Scheme != "" {
			return address.Redacted()
		}
		return "(secret)"
	}
	return text
}
