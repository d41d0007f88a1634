package installer

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
)

// What a boot sector holds (UEFI Specification 2.10, 5.2.1 and 5.2.3).
const (
	sectorSize     = 512
	bootCodeSize   = 446 // with the id of the disk
	partitionType  = 450 // of the first partition
	protectiveType = 0xee
)

// passOn is boot code that makes the BIOS start its next device: int 18h (BIOS Boot Specification 1.01, 4.4),
// and an endless hlt if that returns.
var passOn = []byte{0xcd, 0x18, 0xf4, 0xeb, 0xfd}

// bootSector is the boot sector of a disk whose image is being written. coreos-installer begins with an empty
// partition table that is marked as bootable, and writes the boot code last: a BIOS that finds the disk after a
// power cut would run missing code indefinitely, and the host would not return to its live image.
type bootSector struct {
	path string
	done bool
}

// bootSectorOf returns nil where hosts are not started by a BIOS.
func (i *Installer) bootSectorOf(device string) *bootSector {
	if runtime.GOARCH != "amd64" || i.exists("/sys/firmware/efi") {
		return nil
	}
	return &bootSector{path: i.Root.Path(device)}
}

// passOn puts in the code once the partition table is there, as long as percent of the
// image are far from all: then the program's own code comes.
func (b *bootSector) passOn(percent int) error {
	if b == nil || b.done || percent >= 50 {
		return nil
	}
	disk, err := os.OpenFile(b.path, os.O_RDWR|os.O_SYNC, 0)
	if err != nil {
		return fmt.Errorf("open the boot sector: %w", err)
	}
	err = b.write(disk)
	return errors.Join(err, disk.Close())
}

func (b *bootSector) write(disk *os.File) error {
	sector := make([]byte, sectorSize)
	if _, err := disk.ReadAt(sector, 0); err != nil {
		return fmt.Errorf("read the boot sector: %w", err)
	}
	empty := bytes.Count(sector[:bootCodeSize], []byte{0}) == bootCodeSize
	if !empty || sector[partitionType] != protectiveType || !bytes.HasSuffix(sector, []byte{0x55, 0xaa}) {
		return nil
	}
	if _, err := disk.WriteAt(passOn, 0); err != nil {
		return fmt.Errorf("write the boot sector: %w", err)
	}
	b.done = true
	return nil
}

// check verifies a disk with the whole image: boot code that is not the image's would never start it.
func (b *bootSector) check() error {
	if b == nil || !b.done {
		return nil
	}
	disk, err := os.Open(b.path)
	if err != nil {
		return fmt.Errorf("open the boot sector: %w", err)
	}
	defer disk.Close()
	code := make([]byte, len(passOn))
	if _, err := disk.ReadAt(code, 0); err != nil {
		return fmt.Errorf("read the boot sector: %w", err)
	}
	if bytes.Equal(code, passOn) {
		return errors.New("the first sector has the boot code of a half-written disk, not the image's; write the image again")
	}
	return nil
}
