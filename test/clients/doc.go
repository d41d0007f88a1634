// Package clients runs programs that others wrote for the v2 API, as they are published,
// against the built binary.
package clients
