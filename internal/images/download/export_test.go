package download

// InFlight returns the number of bodies that are being sent.
func (s *Sender) InFlight() int64 { return s.bodies.Load() }
