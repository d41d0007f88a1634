package process

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

//nolint:paralleltest // the number is the process's
func TestMoreGoroutinesRunThanThereAreProcessors(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	all := runtime.NumCPU()

	for _, c := range []struct {
		env            map[string]string
		used, expected int
	}{
		{nil, all, 2 * all},
		{nil, all + 1, 2 * all},
		{map[string]string{"GOMAXPROCS": "1"}, all, all},
		{nil, max(1, all-1), map[bool]int{true: 2 * all, false: all - 1}[all == 1]},
	} {
		runtime.GOMAXPROCS(c.used)
		p := &Process{Env: variables(c.env)}
		p.ShareProcessors()
		require.Equal(t, c.expected, runtime.GOMAXPROCS(0), "%+v", c)
	}
}

type variables map[string]string

func (v variables) LookupEnv(name string) (string, bool) {
	value, set := v[name]
	return value, set
}

func (v variables) Environ() []string { return nil }
