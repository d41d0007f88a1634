package bench_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var installedLine = regexp.MustCompile(`is installed after ([0-9a-z.]+)`)

// BenchmarkDemo installs the five-host cluster of the demo, with machines on which
// nothing takes time: what is left is the service's own orchestration, and the start and
// end of everything.
func BenchmarkDemo(b *testing.B) {
	needs(b)
	const runs = 3
	for b.Loop() {
		var whole, installation []time.Duration
		for range runs {
			var out bytes.Buffer
			demo := exec.CommandContext(
				b.Context(),
				filepath.Join(filepath.Dir(*program), "slipway-demo"),
				"--service",
				*program,
				"--speed",
				"0",
				"--no-sno",
				"--plain",
			)
			demo.Stdout, demo.Stderr = &out, &out
			begun := time.Now()
			require.NoError(b, demo.Run(), "it said: %s", &out)
			whole = append(whole, time.Since(begun))
			found := installedLine.FindSubmatch(out.Bytes())
			require.NotNil(b, found, "it said: %s", &out)
			took, err := time.ParseDuration(string(found[1]))
			require.NoError(b, err)
			installation = append(installation, took)
		}
		b.ReportMetric(percentile(whole, 50).Seconds(), "s-whole-demo")
		b.ReportMetric(percentile(installation, 50).Seconds(), "s-installation")
	}
	b.ReportMetric(0, "ns/op")
}
