package installer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/installer"
)

func TestProgressTellsWhatIsWorthTelling(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		chunks []string
		want   []int
	}{
		"every five percent": {
			[]string{
				"> Read disk 1.0 MiB/100 MiB (1%)\r> Read disk 4 MiB (4%)\r> Read disk 5 MiB (5%)\r",
				"> x (9%)\r> x (10%)\r> x (99%)\r> x (100%)\n",
			},
			[]int{5, 10, 99, 100},
		},
		"lines in pieces":            {[]string{"> Read disk 512.0 Mi", "B/1.0 GiB (5", "0%)", "\r"}, []int{50}},
		"fractions":                  {[]string{"Copied (12.7%)\n"}, []int{12}},
		"the end once":               {[]string{"(100%)\n(100%)\n"}, []int{100}},
		"the end after a small step": {[]string{"(98%)\n(100%)\n"}, []int{98, 100}},
		"nothing of other lines":     {[]string{"Installing Fedora CoreOS 40 x86_64 (512-byte sectors)\n", "(abc%)\n(500%)\n50%\n"}, nil},
		"nothing of a torn end":      {[]string{"(50%)"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []int
			progress := installer.Progress{Report: func(percent int) { got = append(got, percent) }}
			for _, chunk := range c.chunks {
				progress.Write([]byte(chunk))
			}
			require.Equal(t, c.want, got)
		})
	}
}
