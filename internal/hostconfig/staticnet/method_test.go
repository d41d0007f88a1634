package staticnet_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/hostconfig/staticnet"
)

func TestMethodGoesByVersion(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]staticnet.Method{
		"":                    staticnet.MethodNMState, // the newest
		"4.18":                staticnet.MethodNMState,
		"4.18.0":              staticnet.MethodNMState,
		"4.18.0-ec.0":         staticnet.MethodNMState,
		"4.18.0-rc.3":         staticnet.MethodNMState,
		"4.18.3-x86_64":       staticnet.MethodNMState,
		"4.20.1-multi":        staticnet.MethodNMState,
		"5.0.0":               staticnet.MethodNMState,
		"4.17":                staticnet.MethodKeyfiles,
		"4.17.30":             staticnet.MethodKeyfiles,
		"4.9.0":               staticnet.MethodKeyfiles,
		"4.17.0-0.nightly":    staticnet.MethodKeyfiles,
		"4.18.0-0.nightly":    staticnet.MethodKeyfiles, // before ec.0
		"no version at all":   staticnet.MethodKeyfiles,
		"4.18.0-ec.1-aarch64": staticnet.MethodNMState,
		"4.18.0-aarch64":      staticnet.MethodNMState,
		"4.17.0-x86_64":       staticnet.MethodKeyfiles,
	} {
		require.Equal(t, want, staticnet.MethodFor(version), version)
	}
}
