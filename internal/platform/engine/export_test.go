package engine

import "time"

// Ports lists all ports that the server listens on.
func (t *Temporal) Ports() []int {
	var ports []int
	for _, port := range t.ports {
		ports = append(ports, port)
	}
	return ports
}

// NewClaimMapper makes the server's claim mapper.
var NewClaimMapper = newClaimMapper

// LoadCertificates makes or reads the files of a folder.
func LoadCertificates(dir string, now time.Time) error {
	_, err := loadCertificates(dir, now)
	return err
}
