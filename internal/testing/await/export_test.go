package await

import "time"

// Starve replaces what the machine says of its processors.
func (w *Watch) Starve(pressure func() time.Duration) { w.pressure, w.starved = pressure, pressure() }
