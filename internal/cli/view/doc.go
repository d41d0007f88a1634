// Package view renders replies of the API for people at a terminal: tables, and the state of an installation
// that is redrawn in place.
package view
