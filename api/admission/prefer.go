package admission

import (
	"strconv"
	"strings"
	"time"
)

// longestWait is far longer than any request is held, in seconds.
const longestWait = 24 * 60 * 60

// PreferredWait reads "wait=N" (seconds) out of Prefer headers; zero without one.
func PreferredWait(headers []string) time.Duration {
	for _, header := range headers {
		for preference := range strings.SplitSeq(header, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(preference), "=")
			seconds, err := strconv.Atoi(strings.Trim(strings.TrimSpace(value), `"`))
			if strings.EqualFold(strings.TrimSpace(name), "wait") && err == nil && seconds > 0 {
				return time.Duration(min(seconds, longestWait)) * time.Second
			}
		}
	}
	return 0
}
