package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// exchange is a request to a running service of the contract, and its reply.
type exchange struct {
	Request string          `json:"request"`
	Body    json.RawMessage `json:"body"`
	Status  int             `json:"status"`
	Reply   any             `json:"reply"`
}

// notOurs are fields of recorded replies that Slipway has nothing for.
var notOurs = map[string]bool{
	"email_domain":              true, // of a service with accounts
	"org_soft_timeouts_enabled": true,
}

// TestRecordedSessionGetsRepliesOfTheSameShape repeats the session of
// contract/live/exchanges.json: what clients of another service read is there, with
// the same types and codes.
func TestRecordedSessionGetsRepliesOfTheSameShape(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(contract + "live/exchanges.json")
	if err != nil {
		t.Skipf("SKIP: the contract is not beside this checkout (%s)", contract)
	}
	var session []exchange
	require.NoError(t, json.Unmarshal(text, &session))
	s := newService(t)
	ids := map[string]string{} // recorded id -> ours
	for _, x := range session {
		method, path, _ := strings.Cut(x.Request, " ")
		body := string(x.Body)
		for recorded, ours := range ids {
			path, body = strings.ReplaceAll(path, recorded, ours), strings.ReplaceAll(body, recorded, ours)
		}
		var content any
		if body != "null" {
			content = body
		}
		r := s.send(method, strings.TrimPrefix(path, base), content)
		if r.status == http.StatusNotImplemented {
			continue
		}
		require.Equal(t, x.Status, r.status, "%s: %s", x.Request, r.body)
		if x.Status >= 300 || x.Reply == nil || strings.HasSuffix(path, "/install-config") {
			continue // the recorder unpacked the install-config, a string by the contract
		}
		var got any
		r.json(&got)
		rememberID(x.Reply, got, ids)
		requireShape(t, x.Request, x.Reply, got)
	}
	require.Len(t, ids, 2, "a cluster and an infra-env were registered")
}

func rememberID(recorded, got any, ids map[string]string) {
	a, _ := recorded.(map[string]any)
	b, _ := got.(map[string]any)
	from, _ := a["id"].(string)
	to, _ := b["id"].(string)
	if uuid.Validate(from) == nil && from != to {
		ids[from] = to
	}
}

// requireShape requires every field of the recorded value in ours, with its type.
func requireShape(t *testing.T, where string, recorded, got any) {
	t.Helper()
	switch want := recorded.(type) {
	case map[string]any:
		object, isObject := got.(map[string]any)
		require.True(t, isObject, "%s: require an object, found %v", where, got)
		if strings.Contains(where, "validations_info") || strings.HasSuffix(where, ".versions") {
			return
		}
		for field, value := range want {
			if notOurs[field] || value == nil {
				continue
			}
			require.Contains(t, object, field, where)
			requireShape(t, where+"."+field, value, object[field])
		}
	case []any:
		list, isList := got.([]any)
		require.True(t, isList, "%s: require a list, found %v", where, got)
		if len(want) > 0 && len(list) > 0 {
			requireShape(t, where+"[]", want[0], list[0])
		}
	default:
		require.Equal(t, fmt.Sprintf("%T", recorded), fmt.Sprintf("%T", got), where)
	}
}
