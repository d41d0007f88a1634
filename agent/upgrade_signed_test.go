package agent_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"runtime"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/agent"
	"slipway/internal/client"
	"slipway/internal/platform/programsig"
	"slipway/internal/wire"
)

// signedBy returns a signer with these keys, the newest first.
func signedBy(seeds ...byte) programsig.Signer {
	return programsig.Signer{Seeds: func() (all [][]byte) {
		for _, seed := range seeds {
			all = append(all, bytes.Repeat([]byte{seed}, programsig.SeedSize))
		}
		return all
	}}
}

// signedUpgrade makes the argument for a program; the signature is of the change that fn makes of the right one.
func signedUpgrade(t *testing.T, host uuid.UUID, content string, signer programsig.Signer, fn func(*programsig.Change)) string {
	t.Helper()
	sum := sha256.Sum256([]byte(content))
	architecture := map[string]string{"amd64": "x86_64"}[runtime.GOARCH]
	if architecture == "" {
		architecture = runtime.GOARCH
	}
	program := wire.AgentProgram{Path: "/agent/slipway-agent-new", SHA256: hex.EncodeToString(sum[:])}
	change := programsig.Change{
		HostID: host.String(), Boot: "boot-1", From: "1.0", To: "2.0", Architecture: architecture, SHA256: program.SHA256,
	}
	fn(&change)
	var err error
	program.Signatures, err = signer.Sign(change)
	require.NoError(t, err)
	text, err := json.Marshal(wire.AgentUpgrade{AgentImage: "2.0", Programs: map[string]wire.AgentProgram{architecture: program}})
	require.NoError(t, err)
	return string(text)
}

func TestAgentBecomesNoProgramThatTheServiceDidNotSignForIt(t *testing.T) {
	t.Parallel()
	hostile := "#!/bin/sh\ntouch \"$0.ran\"\n"
	as := func(fn func(*programsig.Change)) func(*testing.T, uuid.UUID) string {
		return func(t *testing.T, host uuid.UUID) string {
			t.Helper()
			return signedUpgrade(t, host, newProgram, signedBy(1), fn)
		}
	}
	same := func(*programsig.Change) {}
	for name, c := range map[string]struct {
		argument func(*testing.T, uuid.UUID) string
		offered  string
		refused  string // empty: the agent becomes the program
	}{
		"the signed program":           {as(same), newProgram, ""},
		"another program in its place": {as(same), hostile, "another program was served"},
		"a signature for another host": {
			as(func(c *programsig.Change) { c.HostID = uuid.NewString() }), newProgram, "not signed for this host",
		},
		"a signature of another boot":       {as(func(c *programsig.Change) { c.Boot = "boot-0" }), newProgram, "not signed for this host"},
		"a signature for another agent":     {as(func(c *programsig.Change) { c.From = "0.9" }), newProgram, "not signed for this host"},
		"a signature for another version":   {as(func(c *programsig.Change) { c.To = "0.9" }), newProgram, "not signed for this host"},
		"a signature of the former program": {as(func(c *programsig.Change) { c.SHA256 = "abc" }), newProgram, "not signed for this host"},
		"a program with its hash, unsigned": {
			func(t *testing.T, _ uuid.UUID) string { t.Helper(); return upgradeArgument(t, "2.0", hostile) }, hostile, "found 0 others",
		},
		"a program that another key signed": {func(t *testing.T, h uuid.UUID) string {
			t.Helper()
			return signedUpgrade(t, h, hostile, signedBy(2), same)
		}, hostile, "found 1 others"},
		"the signed program after a rotation": {
			func(t *testing.T, h uuid.UUID) string {
				t.Helper()
				return signedUpgrade(t, h, newProgram, signedBy(2, 1), same)
			}, newProgram, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			key, err := programsig.ParsePublicKey(signedBy(1).PublicKey())
			require.NoError(t, err)
			s, h, dir, id := newService(t), newHost(t), t.TempDir(), uuid.New()
			offering(s, c.offered)
			became := make(chan string, 1)
			h.start(t, s, func(o *agent.Options) {
				o.HostID = id
				o.Client = client.New(client.Options{BaseURL: s.URL, Token: token, AgentVersion: "1.0"})
				o.Replace = agent.Replace{Key: key, Dir: dir, Exec: func(program, _ string) error { became <- program; return nil }}
			})
			s.Give("upgrade-1", wire.StepTypeUpgradeAgent, c.argument(t, id))
			reply := s.AwaitReply(t, "upgrade-1")
			if c.refused == "" {
				require.Equal(t, wire.UpgradeAgentResultSuccess, result(t, reply))
				require.FileExists(t, <-became)
				return
			}
			require.Equal(t, wire.UpgradeAgentResultFailure, result(t, reply))
			var response wire.AgentUpgraded
			require.NoError(t, json.Unmarshal([]byte(reply.Output), &response))
			require.Contains(t, response.Refused, c.refused)
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Empty(t, left, "nothing ran and nothing stayed")

			// The agent continues with its program: it takes the next step.
			s.Give("inventory-1", wire.StepTypeInventory, "{}")
			require.NotEmpty(t, s.AwaitReply(t, "inventory-1").Output)
			require.Empty(t, became)
		})
	}
}
