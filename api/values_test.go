package api_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

const sshKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHUBFNCkJIFJy2xcBfjnFyxd0BMqmKSbt3BEW1eZYMBX me@example.com"

// plain returns a value as it looks after its way through JSON.
func plain(t testing.TB, value any) any {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	var out any
	require.NoError(t, json.Unmarshal(text, &out))
	return out
}

// withoutClusterID drops what the service adds to networks and addresses, and settings
// that are shown empty.
func withoutClusterID(value any) any {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			withoutClusterID(item)
		}
	case map[string]any:
		delete(v, "cluster_id")
		delete(v, "external")
	}
	return value
}
