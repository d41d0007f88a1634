// Package words holds the test that keeps comments, messages, documentation and identifiers in the plain technical
// English of the field: a list of phrases and names that are not used here, each with what to write instead.
package words
