package download

// InFlight is the number of bodies that are being sent.
func (s *Sender) InFlight() int64 { return s.bodies.Load() }
