package cli

import (
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// Options returns how the flags of commands are read.
func Options() []kong.Option {
	return []kong.Option{
		kong.TypeMapper(reflect.TypeFor[time.Duration](), kong.MapperFunc(decodeDuration)),
		kong.NamedMapper("filecontent", kong.MapperFunc(decodeFile)),
		kong.PostBuild(unsetEmpty),
	}
}

// unsetEmpty removes the variables of flags from the environment that are empty: kong would read an empty path, number or duration. A
// compose file or a unit that passes a variable on cannot leave it out.
func unsetEmpty(k *kong.Kong) error {
	return kong.Visit(k.Model, func(node kong.Visitable, next kong.Next) error {
		var names []string
		switch n := node.(type) {
		case *kong.Flag:
			names = n.Tag.Envs
		case *kong.Value:
			names = n.Tag.Envs
		}
		for _, name := range names {
			if value, set := os.LookupEnv(name); set && strings.TrimSpace(value) == "" {
				if err := os.Unsetenv(name); err != nil {
					return err
				}
			}
		}
		return next(nil)
	})
}

func decodeDuration(c *kong.DecodeContext, target reflect.Value) error {
	var text string
	if err := c.Scan.PopValueInto("duration", &text); err != nil {
		return err
	}
	d, err := parseDuration(text)
	target.SetInt(int64(d))
	return err
}

// days is the part of a duration that time.ParseDuration does not know.
var days = regexp.MustCompile(`^([0-9]+)d`)

// parseDuration reads a duration with units, days among them: 90s, 4h, 30d, 1d12h.
func parseDuration(text string) (time.Duration, error) {
	rest, whole := text, time.Duration(0)
	if found := days.FindStringSubmatch(text); found != nil {
		n, err := strconv.Atoi(found[1])
		if err != nil || n > maxDays {
			return 0, fmt.Errorf("require at most %dd, found %q", maxDays, text)
		}
		whole, rest = time.Duration(n)*24*time.Hour, text[len(found[0]):]
		if rest == "" {
			return whole, nil
		}
	}
	d, err := time.ParseDuration(rest)
	if err != nil {
		return 0, fmt.Errorf("require a time with its unit, such as 90s, 4h or 30d, found %q", text)
	}
	return whole + d, nil
}

// maxDays is about the longest time.Duration: 292 years.
const maxDays = 100_000

// decodeFile reads the file of a flag, or the input for "-". An empty value is an empty content: it clears a setting.
func decodeFile(c *kong.DecodeContext, target reflect.Value) error {
	var path string
	if err := c.Scan.PopValueInto("file", &path); err != nil {
		return err
	}
	if !c.Value.Active || c.Value.Set { // of another command
		return nil
	}
	content, err := []byte{}, error(nil)
	switch path {
	case "":
	case "-":
		content, err = io.ReadAll(os.Stdin)
	default:
		content, err = os.ReadFile(kong.ExpandPath(path))
	}
	if err != nil {
		return fmt.Errorf("read the file of --%s: %w", c.Value.Name, err)
	}
	target.SetBytes(content)
	return nil
}
