package process_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/sim/process"
)

func TestProcessesEndWhenTheyAreStopped(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"one that ends in order":    `trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.05; done`,
		"one that has to be killed": `trap '' TERM; echo ready; while :; do sleep 0.05; done`,
		"one that has ended":        `echo ready`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := filepath.Join(t.TempDir(), "log")
			p, err := process.Start(exec.Command("sh", "-c", script), log)
			require.NoError(t, err)
			require.Eventually(t, func() bool {
				text, err := os.ReadFile(log)
				return err == nil && len(text) > 0
			}, time.Minute, time.Millisecond)
			p.Stop(time.Second)
			require.ErrorContains(t, context.Cause(p.Ended()), "sh has ended; its log is "+log)
			p.Stop(time.Second)
		})
	}
	_, err := process.Start(exec.Command("/no/such/program"), filepath.Join(t.TempDir(), "log"))
	require.ErrorContains(t, err, "start program: fork/exec /no/such/program")
	_, err = process.Start(exec.Command("true"), "/no/such/folder/log")
	require.ErrorContains(t, err, "open the log of true")
}
