package main

import (
	"os"
	"testing"
)

// commandEnv makes the test program the command itself, so that tests run the real thing
// as a process of its own without linking the Temporal server twice.
const commandEnv = "SLIPWAY_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(commandEnv) != "" {
		os.Exit(run(os.Args[1:]))
	}
	os.Exit(m.Run())
}
