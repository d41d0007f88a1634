package ignition

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"text/template"
	"unicode"

	"github.com/coreos/butane/config/common"
	butane "github.com/coreos/butane/config/fcos/v1_1"

	"slipway/internal/hostconfig/ignition/document"
)

//go:embed templates/*.bu
var templateFiles embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"quote":    quote,
	"shell":    shellQuote,
	"unitArgs": unitArgs,
}).ParseFS(templateFiles, "templates/*.bu"))

// render fills the named Butane templates with data, translates each to Ignition 3.1.0
// and merges the results in that order.
func render(data any, names ...string) ([]byte, error) {
	parts := make([][]byte, 0, len(names))
	for _, name := range names {
		var source bytes.Buffer
		if err := templates.ExecuteTemplate(&source, name+".bu", data); err != nil {
			return nil, fmt.Errorf("fill template %s: %w", name, err)
		}
		part, report, err := butane.ToIgn3_1Bytes(source.Bytes(), common.TranslateBytesOptions{
			TranslateOptions: common.TranslateOptions{NoResourceAutoCompression: true},
		})
		if err != nil {
			return nil, fmt.Errorf("translate template %s: %w: %s", name, err, strings.TrimSpace(report.String()))
		}
		parts = append(parts, part)
	}
	return document.Merge(parts...)
}

// quote makes a YAML scalar of any text: JSON strings are YAML, but YAML requires unprintable characters to be
// escaped (YAML 1.2, section 5.1).
func quote(text string) string {
	data, _ := json.Marshal(text) // a string always marshals
	var b strings.Builder
	for _, r := range string(data) {
		if r >= 0x7f && r <= 0x9f || r == 0xfeff || r == 0xfffe || r == 0xffff {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// shellQuote makes one word of a shell command of any text.
func shellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// unitEscapes are the characters that systemd.service(5) reads in a quoted argument of
// a command line.
var unitEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`, `$`, `$$`)

// unitArgs makes the arguments of a command line in a unit; the result is one line, as YAML and systemd define
// lines.
func unitArgs(args []string) string {
	var b strings.Builder
	for i, a := range args {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteByte('"')
		for _, r := range unitEscapes.Replace(a) {
			if unicode.IsPrint(r) {
				b.WriteRune(r)
			} else {
				fmt.Fprintf(&b, `\U%08x`, r)
			}
		}
		b.WriteByte('"')
	}
	return b.String()
}

// environmentFile makes a file for EnvironmentFile= of systemd.exec(5), which reads
// values in double quotes with backslash escapes.
func environmentFile(vars [][2]string) string {
	var b strings.Builder
	for _, v := range vars {
		value := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(v[1])
		fmt.Fprintf(&b, "%s=\"%s\"\n", v[0], value)
	}
	return b.String()
}
