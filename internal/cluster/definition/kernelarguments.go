package definition

import (
	"slices"
	"strings"
	"unicode"

	"slipway/internal/model"
	"slipway/internal/wire"
)

func applyKernelArguments(e *model.InfraEnv, p InfraEnvSettings) error {
	if p.KernelArguments == nil {
		return nil
	}
	e.KernelArguments = nil
	for i, a := range *p.KernelArguments {
		if err := checkKernelArgument(i, a); err != nil {
			return err
		}
		e.KernelArguments = append(e.KernelArguments, model.KernelArgument{Operation: string(a.Operation), Value: a.Value})
	}
	return nil
}

// checkKernelArgument checks what the API document cannot: both fields are set, replace names the old value, and every
// boot loader reads the argument the same. The document checks the characters of the value.
func checkKernelArgument(i int, a wire.KernelArgument) error {
	switch {
	case a.Operation == "":
		return model.Invalidf("kernel_arguments[%d].operation is required: append, replace or delete", i)
	case a.Value == "":
		return model.Invalidf("kernel_arguments[%d].value is required", i)
	case a.Operation == wire.Replace && strings.Count(a.Value, "=") < 2:
		return model.Invalidf("kernel_arguments[%d].value: require KEY=OLD=NEW with replace, found %q", i, a.Value)
	}
	if found := unbootable(a.Value); found != "" {
		return model.Invalidf(
			"kernel_arguments[%d].value: require an argument that every boot loader takes as it is, found %s in %q",
			i,
			found,
			a.Value,
		)
	}
	return nil
}

// unbootable returns the part of an argument that a boot loader would not pass to the kernel unchanged; empty for none.
// Arguments end in a line of grub.cfg, isolinux.cfg or an iPXE script: GRUB reads that line like a shell (GRUB manual,
// "Shell-like scripting"), and iPXE has variables and no quotes. An argument without quotes is quoted for GRUB when it is
// written into an image.
func unbootable(value string) string {
	quotes, inside := strings.Contains(value, `"`), false
	for i, r := range value {
		switch {
		case unicode.IsControl(r):
			return "a line end or another control character" // a second line could boot something else
		case r == '"':
			inside = !inside
		case r == '\'', i == 0 && r == '#',
			r == '\\' && (quotes || i == len(value)-1),
			r == '$' && (quotes || strings.HasPrefix(value[i:], "${")),
			strings.ContainsRune(";&|<>", r) && quotes && !inside:
			return string(r)
		}
	}
	for _, word := range strings.Fields(value) {
		if slices.Contains([]string{"{", "}", ";", "||", "&&"}, word) {
			return word
		}
	}
	return ""
}
