// Package wire holds the formats of the v2 API as Go types: messages between clients, hosts and the service. wire.gen.go is generated
// from api/openapi.yaml.
package wire

import (
	"bytes"
	"fmt"
	"time"
)

// dateTimeLayout is RFC 3339 with milliseconds, the form clients of the v2 API parse.
const dateTimeLayout = "2006-01-02T15:04:05.000Z07:00"

// DateTime is an instant on the wire. The zero instant is written as
// 0001-01-01T00:00:00.000Z and never as null: clients compare against it.
type DateTime time.Time

// MarshalJSON writes the instant in UTC with milliseconds.
func (t DateTime) MarshalJSON() ([]byte, error) {
	return []byte(`"` + time.Time(t).UTC().Format(dateTimeLayout) + `"`), nil
}

// UnmarshalJSON reads any RFC 3339 instant; null reads as the zero instant.
func (t *DateTime) UnmarshalJSON(data []byte) error {
	if bytes.Equal(data, []byte("null")) {
		*t = DateTime{}
		return nil
	}
	var v time.Time
	if err := v.UnmarshalJSON(data); err != nil {
		return fmt.Errorf("require an RFC 3339 date and time, found %s", data)
	}
	*t = DateTime(v)
	return nil
}

// Time returns the instant as a time.Time.
func (t DateTime) Time() time.Time { return time.Time(t) }

// IsZero reports whether the instant was never set.
func (t DateTime) IsZero() bool { return time.Time(t).IsZero() }
