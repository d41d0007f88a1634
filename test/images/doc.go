// Package images tests discovery images with the built binary: made by a service,
// downloaded by the command line, held against the live ISO they are made of.
package images
