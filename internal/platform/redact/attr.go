package redact

import (
	"fmt"
	"log/slog"

	"github.com/google/uuid"
)

// Attr takes secrets out of an attribute of a log record, and out of its message. It is a ReplaceAttr of slog.HandlerOptions.
func Attr(_ []string, a slog.Attr) slog.Attr {
	switch a.Value.Kind() {
	case slog.KindString:
		if text := a.Value.String(); suspicious(text) {
			a.Value = slog.StringValue(Text(text))
		}
	case slog.KindAny:
		a.Value = anyValue(a.Value)
	default: // numbers and times; members of groups come one by one
	}
	return a
}

// anyValue replaces a value by its redacted text when it has a secret in it.
func anyValue(v slog.Value) slog.Value {
	var text string
	switch value := v.Any().(type) {
	case nil, uuid.UUID, *slog.Source, slog.Level:
		return v
	case error:
		text = value.Error()
	case []byte:
		text = string(value)
	case fmt.Stringer:
		text = value.String()
	default:
		text = fmt.Sprintf("%+v", value)
	}
	if clean := Text(text); clean != text {
		return slog.StringValue(clean)
	}
	return v
}
