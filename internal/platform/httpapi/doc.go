// Package httpapi is what the HTTP handlers of the service share: one table that maps errors to status codes, JSON
// answers, request ids, and addresses as handlers expect them.
package httpapi
