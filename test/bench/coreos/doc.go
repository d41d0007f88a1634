// Package coreos builds the system that the bench's machines boot: Debian packages, the
// real Ignition, udev and NetworkManager, in the shape of CoreOS's live image. Each part is
// made by a script of the folder system and kept outside the repository, by a key of all
// that it is made of.
package coreos
