package discovery

import (
	"encoding/json"
	"strings"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// limit bounds the answer of a step. Each host of a cluster is read with its answers by every reader of the cluster.
type limit struct{ bytes, values int }

// limitOf: an inventory of a machine with hundreds of disks and addresses has some 300 KB; a report about a thousand other hosts
// thirty times that.
func limitOf(step wire.StepType) limit {
	if step == wire.StepTypeConnectivityCheck {
		return limit{32 << 20, 1_000_000}
	}
	return limit{2 << 20, 100_000}
}

// decode reads the output of a step strictly as its format; fields the format does not
// have are dropped. The error is an ErrInvalid.
func decode[T any](r wire.StepReply) (T, error) {
	var out T
	text := strings.TrimSpace(r.Output)
	if text == "" || text == "null" {
		return out, model.Invalidf("step %s has no output, JSON is required", r.StepType)
	}
	limit := limitOf(r.StepType)
	if len(text) > limit.bytes {
		return out, model.Invalidf("require at most %d bytes as the output of step %s, found %d", limit.bytes, r.StepType, len(text))
	}
	if err := wire.Bounded([]byte(text), limit.values); err != nil {
		return out, model.Invalidf("output of step %s: %v", r.StepType, err)
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

// silent reports whether the agent runs the same step already: it answers with success and no output.
func silent(r wire.StepReply) bool {
	return r.ExitCode == 0 && strings.TrimSpace(r.Output) == ""
}
