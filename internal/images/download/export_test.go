package download

// InFlight returns the number of bodies that are being sent.
func (s *Sender) InFlight() int {
	s.places.mu.Lock()
	defer s.places.mu.Unlock()
	return s.places.all
}
