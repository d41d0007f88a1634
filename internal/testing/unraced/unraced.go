// Package unraced is for dear tests of one goroutine, for which the race detector has nothing to find and takes most of the time:
// megabytes of JSON take ten times as long. They run without it (make test-plain), as do all packages that share no memory.
package unraced

import "testing"

// Test skips the test under the race detector. The script packages finds its calls: the first line of a test is the place.
func Test(t testing.TB) {
	t.Helper()
	if detector {
		t.Skip("runs without the race detector: make test-plain")
	}
}
