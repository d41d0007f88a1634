package validation

import "time"

// ClockReading is a host's clock in Unix seconds, zero when the host sent none, and the service's time when it arrived.
type ClockReading struct {
	Timestamp int64
	At        time.Time
}

func (r ClockReading) known() bool { return r.Timestamp != 0 && !r.At.IsZero() }

// ahead returns how far the host's clock is ahead of the service's; negative when it is behind.
func (r ClockReading) ahead() (offset time.Duration, known bool) {
	if !r.known() {
		return 0, false
	}
	return time.Unix(r.Timestamp, 0).Sub(r.At), true
}

// seconds returns the offset in whole seconds.
func (r ClockReading) seconds() (offset int64, known bool) {
	if !r.known() {
		return 0, false
	}
	return r.Timestamp - r.At.Unix(), true
}

// harmless reports whether no verdict can depend on the offset: all clocks within half of the spread agree with each other.
func (r ClockReading) harmless() bool {
	ahead, known := r.ahead()
	return known && ahead.Abs() < min(maxClockSpread/2, hostBehindLimit, hostAheadLimit)-time.Second
}

// clockEvery bounds how often a clock that stays wrong leads to an evaluation.
const clockEvery = time.Minute

// ClockChanged reports whether a new reading of a host's clock can change a verdict on the host or its cluster. A clock that
// is off counts once a minute even when it moves by little: small steps add up, and other hosts are compared with it.
func ClockChanged(before, after ClockReading) bool {
	was, known := before.seconds()
	is, knows := after.seconds()
	switch {
	case !knows || before.harmless() && after.harmless():
		return false
	case !known || max(was-is, is-was) > 1: // whole seconds differ by one between any two readings
		return true
	}
	return !before.At.Truncate(clockEvery).Equal(after.At.Truncate(clockEvery))
}
