package configs

import (
	_ "embed"
)

const (
	fetchProgram = "/usr/local/bin/bench-fetch"
	waitProgram  = "/usr/local/bin/bench-wait"
)

//go:embed fetch.sh
var fetchScript []byte

//go:embed wait.sh
var waitScript []byte
