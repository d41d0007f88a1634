package container

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// mount puts a container's files over the host's, which it otherwise sees as they are. A place that the host does not have is made there,
// and stays.
func mount(mounts []Mount) error {
	// What the host mounts or unmounts later is seen here too, and nothing from here there.
	if err := syscall.Mount("", "/", "", syscall.MS_SLAVE|syscall.MS_REC, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	// Processes have other numbers in here.
	if err := syscall.Mount("proc", "/proc", "proc", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	for _, one := range mounts {
		if err := bind(one); err != nil {
			return fmt.Errorf("mount %s at %s: %w", one.Host, one.Container, err)
		}
	}
	return nil
}

func bind(m Mount) error {
	if err := place(m); err != nil {
		return err
	}
	if err := syscall.Mount(m.Host, m.Container, "", syscall.MS_BIND|syscall.MS_REC, ""); err != nil {
		return err
	}
	if !m.ReadOnly {
		return nil
	}
	// Flags that the file system below has may not be dropped.
	var system syscall.Statfs_t
	if err := syscall.Statfs(m.Container, &system); err != nil {
		return err
	}
	kept := uintptr(system.Flags) & (syscall.MS_NOSUID | syscall.MS_NODEV | syscall.MS_NOEXEC) //nolint:gosec // bits
	return syscall.Mount("", m.Container, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY|kept, "")
}

// place makes what a mount goes over.
func place(m Mount) error {
	info, err := os.Stat(m.Host)
	if err != nil {
		return err
	}
	if _, err := os.Stat(m.Container); err == nil {
		return nil
	}
	if info.IsDir() {
		return os.MkdirAll(m.Container, 0o755) //nolint:gosec // nothing in it
	}
	if err := os.MkdirAll(filepath.Dir(m.Container), 0o755); err != nil { //nolint:gosec // nothing in it
		return err
	}
	f, err := os.OpenFile(m.Container, os.O_CREATE|os.O_WRONLY, 0o644) //nolint:gosec // nothing in it
	if err != nil {
		return err
	}
	return f.Close()
}
