package staticnet_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/hostconfig/staticnet"
	"slipway/internal/model"
)

// clock stands for sleep: a second is over at once, and in the twentieth both interfaces of the host appear.
const clock = `#!/bin/sh
echo x >>"$CLOCK/seconds"
[ "$(wc -l <"$CLOCK/seconds")" -eq 20 ] || exit 0
mkdir -p "$CLOCK/nets/ens1f0/device" "$CLOCK/nets/ens1f1/device"
echo 52:54:00:aa:bb:01 >"$CLOCK/nets/ens1f0/address"
echo 52:54:00:aa:bb:02 >"$CLOCK/nets/ens1f1/address"
`

// The arguments come from the unit, with other folders only: this machine's own stay as they are.
func TestTheDelayOfAnInfraEnvIsWaitedForInTheInitramfs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		delay   time.Duration
		waits   bool
		seconds int
	}{
		"a minute":           {time.Minute, true, 20},
		"ten seconds more":   {10 * time.Second, true, 20},
		"not long enough":    {4 * time.Second, false, 19},
		"none, as it always": {0, false, 15},
	} {
		for _, how := range []staticnet.Method{staticnet.MethodKeyfiles, staticnet.MethodNMState} {
			t.Run(name+", "+string(how), func(t *testing.T) {
				t.Parallel()
				archive, err := staticnet.MinimalInitrd(parse(t, `interfaces:
- {name: eth0, type: ethernet, state: up, ipv4: {enabled: true, address: [{ip: 192.0.2.9, prefix-length: 24}]}}
`), model.Proxy{}, how, c.delay)
				require.NoError(t, err)
				root := t.TempDir()
				unit := ""
				for path, content := range unpack(t, archive) {
					if strings.HasSuffix(path, "slipway-static-network.service") && !strings.Contains(path, ".wants/") {
						unit = content
						continue
					}
					require.NoError(t, os.MkdirAll(filepath.Dir(root+path), 0o700))
					require.NoError(t, os.WriteFile(root+path, []byte(content), 0o700)) //nolint:gosec // a script
				}
				_, command, found := strings.Cut(unit, "\nExecStart=")
				require.True(t, found, unit)
				words := strings.Fields(strings.SplitN(command, "\n", 2)[0])
				require.Equal(t, "/bin/sh", words[0])
				for i := range words[1:] {
					words[i+1] = strings.Replace(words[i+1], "/sys/class/net", "/nets", 1)
					if strings.HasPrefix(words[i+1], "/") {
						words[i+1] = root + words[i+1]
					}
				}
				if len(words) == 4 { // the folder that it looks at by itself
					script, err := os.ReadFile(words[1])
					require.NoError(t, err)
					script = []byte(strings.Replace(string(script), "/sys/class/net", root+"/nets", 1))
					require.NoError(t, os.WriteFile(words[1], script, 0o700)) //nolint:gosec // a script
				}
				require.NoError(t, os.MkdirAll(root+"/bin", 0o700))
				require.NoError(t, os.WriteFile(root+"/bin/sleep", []byte(clock), 0o700)) //nolint:gosec // a program
				run := exec.CommandContext(t.Context(), words[0], words[1:]...)           //nolint:gosec // the unit's command
				run.Env = []string{"PATH=" + root + "/bin:/usr/bin:/bin", "CLOCK=" + root}
				out, err := run.CombinedOutput()
				require.NoError(t, err, string(out))
				_, err = os.Stat(root + "/run/NetworkManager/system-connections/eth0.nmconnection")
				require.Equal(t, c.waits, err == nil, string(out))
				seconds, err := os.ReadFile(root + "/seconds")
				require.NoError(t, err)
				require.Equal(t, c.seconds, strings.Count(string(seconds), "\n"))
			})
		}
	}
}
