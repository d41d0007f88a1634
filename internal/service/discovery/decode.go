package discovery

import (
	"encoding/json"
	"strings"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// decode reads the output of a step strictly as its format; fields the format does not
// have are dropped. The error is an ErrInvalid.
func decode[T any](r wire.StepReply) (T, error) {
	var out T
	text := strings.TrimSpace(r.Output)
	if text == "" || text == "null" {
		return out, model.Invalidf("require the output of step %s to be JSON, found none", r.StepType)
	}
	if err := json.Unmarshal([]byte(dropNUL(text)), &out); err != nil {
		return out, model.Invalidf("require the output of step %s in its format: %v", r.StepType, err)
	}
	return out, nil
}

// dropNUL removes escaped NUL characters, which firmware leaves in serial numbers and
// PostgreSQL does not store.
func dropNUL(text string) string {
	const nul = `\u0000`
	if !strings.Contains(text, nul) {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], nul):
			i += len(nul) - 1
		case text[i] == '\\' && i+1 < len(text): // also an escaped backslash before "u0000"
			out.WriteString(text[i : i+2])
			i++
		default:
			out.WriteByte(text[i])
		}
	}
	return out.String()
}

// silent is the answer of an agent that runs the same step already: success and no output.
func silent(r wire.StepReply) bool {
	return r.ExitCode == 0 && strings.TrimSpace(r.Output) == ""
}
