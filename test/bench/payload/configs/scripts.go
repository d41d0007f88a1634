package configs

import (
	_ "embed"
)

const (
	fetchProgram     = "/usr/local/bin/bench-fetch"
	waitProgram      = "/usr/local/bin/bench-wait"
	firstBootProgram = "/usr/local/bin/bench-firstboot"
)

//go:embed fetch.sh
var fetchScript []byte

//go:embed wait.sh
var waitScript []byte

//go:embed firstboot.sh
var firstBootScript []byte
