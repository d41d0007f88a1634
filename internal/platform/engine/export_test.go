package engine

import "time"

// Ports are all that the server listens on.
func (t *Temporal) Ports() []int {
	var ports []int
	for _, port := range t.ports {
		ports = append(ports, port)
	}
	return ports
}

// NewClaimMapper is the one of the server.
var NewClaimMapper = newClaimMapper

// LoadCertificates makes or reads the files of a folder.
func LoadCertificates(dir string, now time.Time) error {
	_, err := loadCertificates(dir, now)
	return err
}
