// Package packages holds the files that put a service on a server: the packages have them, and slipway install-service writes them.
package packages

import "embed"

// Files has the units, the files of systemd-sysusers and systemd-tmpfiles, and the scripts that run when a package comes and goes.
// Their paths begin with /usr.
//
//go:embed *.service *.timer *.sysusers *.tmpfiles postinstall preremove postremove
var Files embed.FS
