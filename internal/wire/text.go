package wire

import "encoding/json"

// BasePath is where the API begins.
const BasePath = "/api/assisted-install"

// Text encodes a value as JSON in a string, the habit of many fields (docs/reference/wire.md, "JSON in strings"). It panics when the
// value cannot be encoded; model and wire types can be.
func Text(value any) string { return string(Bytes(value)) }

// Bytes encodes a value as Text does.
func Bytes(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}
