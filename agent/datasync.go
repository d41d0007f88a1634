package agent

import (
	"os"
	"syscall"
)

// datasync waits until the content of a file is on stable storage.
func datasync(file *os.File) error {
	for {
		err := syscall.Fdatasync(int(file.Fd()))
		if err != syscall.EINTR {
			return err
		}
	}
}
