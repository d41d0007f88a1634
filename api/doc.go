// Package api is the facade: the v2 API of docs/reference/wire.md over HTTP. A handler reads its input, calls one thing and replies;
// status codes are decided in internal/platform/httpapi alone. openapi.yaml is the description of the API, served to clients and used
// here to check their requests.
//
// JSON inside strings, zero times and the like exist only in the *_wire.go files,
// which map the nouns of internal/model to the formats of internal/wire and back.
package api
