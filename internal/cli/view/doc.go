// Package view turns what the API answers into what people read in a terminal: tables,
// and a picture of an installation that is redrawn in place.
package view
