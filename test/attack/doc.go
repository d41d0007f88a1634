// Package attack tries chains of attacks on the built service: what one step yields, a token, an id, an address or a file, is used in the
// next. Nothing here uses names of the service's code, so that what is expected is said twice.
package attack
