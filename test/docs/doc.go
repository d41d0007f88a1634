// Package docs runs what the documentation shows: the session with curl, and every
// scenario of the demo.
package docs
