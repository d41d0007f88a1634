package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"slipway/internal/testing/recorded"
)

// exchange is a recorded request and its reply.
type exchange struct {
	Request string          `json:"request"`
	Body    json.RawMessage `json:"body"`
	Status  int             `json:"status"`
	Reply   any             `json:"reply"`
}

// ownValues are fields of recorded replies whose values are this service's own, and why.
var ownValues = map[string]string{
	"message": "our own words", "status_info": "our own words", "description": "our own words", "qualitative": "our own words",
	"download_url": "where this service is", "url": "where this service is",
	"ocp_release_image": "as the available releases have it", "versions": "the parts that this service is made of",
	"step_id": "made up anew each time", "timestamp": "written once in a while",
	"next_instruction_seconds": "agents receive the time when something is due",
}

// ownItems are items of recorded lists that ours need not have, or not with that value.
var ownItems = map[string]string{
	"image_info_updated":                   "reports changes; infra_env_registered is the event of a new InfraEnv",
	"cluster_validation_fixed":             "the evaluation came between two requests of the recorder",
	"inventory":                            "asked for again when it is due, not within a second",
	"time-synced-between-host-and-service": "the host says when the session was recorded",
}

// TestRecordedSessionGetsRepliesOfTheSameShape repeats the session of package recorded:
// what clients read there is in our replies too, with the same types and codes.
func TestRecordedSessionGetsRepliesOfTheSameShape(t *testing.T) {
	t.Parallel()
	var session []exchange
	require.NoError(t, json.Unmarshal(recorded.Session(), &session))
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
		s.refreshed()
		r := s.send(method, strings.TrimPrefix(path, base), content)
		if r.Status == http.StatusNotImplemented {
			continue
		}
		require.Equal(t, x.Status, r.Status, "%s: %s", x.Request, r.Body)
		if x.Status >= 300 || x.Reply == nil || strings.HasSuffix(path, "/install-config") {
			continue // the recorder unpacked the install-config, a string by the contract
		}
		var got any
		r.JSON(&got)
		rememberID(x.Reply, got, ids)
		compare{t, ids}.value(x.Request, "", x.Reply, got)
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

// compare holds our replies against recorded ones: every field is there, with its type, and with its value unless that is our own. JSON
// in strings is compared as JSON.
type compare struct {
	t   *testing.T
	ids map[string]string
}

func (c compare) value(where, field string, recorded, got any) {
	c.t.Helper()
	switch want := recorded.(type) {
	case map[string]any:
		object, isObject := got.(map[string]any)
		require.True(c.t, isObject, "%s: require an object, found %v", where, got)
		for name, value := range want {
			if value == nil {
				continue
			}
			if _, own := ownValues[name]; own && object[name] != nil {
				assert.Equal(c.t, fmt.Sprintf("%T", value), fmt.Sprintf("%T", object[name]), "%s.%s", where, name)
				continue
			}
			if assert.Contains(c.t, object, name, where) {
				c.value(where+"."+name, name, value, object[name])
			}
		}
	case []any:
		list, isList := got.([]any)
		require.True(c.t, isList, "%s: require a list, found %v", where, got)
		for _, item := range want {
			c.item(where, field, item, list)
		}
	case string:
		text, isText := got.(string)
		require.True(c.t, isText, "%s: require a text, found %v", where, got)
		c.text(where, field, want, text)
	default:
		require.Equal(c.t, fmt.Sprintf("%T", recorded), fmt.Sprintf("%T", got), where)
		assert.Equal(c.t, recorded, got, where)
	}
}

// item finds the item of our list that the recorded one is to be compared with.
func (c compare) item(where, field string, recorded any, list []any) {
	c.t.Helper()
	object, isObject := recorded.(map[string]any)
	if !isObject {
		if text, isText := recorded.(string); isText && strings.HasPrefix(text, "{") && len(list) == 1 {
			c.value(where+"[]", field, recorded, list[0])
			return
		}
		assert.Contains(c.t, list, recorded, where)
		return
	}
	for _, key := range []string{"id", "name", "operator_name", "step_type", "cidr", "ip", "destination", "domain_name"} {
		name, named := object[key]
		if _, known := c.ids[fmt.Sprint(name)]; !named || known {
			continue
		}
		if _, own := ownItems[fmt.Sprint(name)]; own {
			return
		}
		at := slices.IndexFunc(list, func(ours any) bool { return ours.(map[string]any)[key] == name })
		if assert.GreaterOrEqual(c.t, at, 0, "%s: no item with %s %v", where, key, name) {
			c.value(fmt.Sprintf("%s[%v]", where, name), field, recorded, list[at])
		}
		return
	}
	require.NotEmpty(c.t, list, where)
	c.value(where+"[]", field, recorded, list[0])
}

func (c compare) text(where, field, recorded, got string) {
	c.t.Helper()
	for theirs, ours := range c.ids {
		recorded = strings.ReplaceAll(recorded, theirs, ours)
	}
	if inner, isJSON := unpacked(recorded); isJSON {
		ours, too := unpacked(got)
		require.True(c.t, too, "%s: require JSON in a string, found %q", where, got)
		c.value(where, field, inner, ours)
		return
	}
	if at, err := time.Parse(time.RFC3339, recorded); err == nil {
		ours, err := time.Parse(time.RFC3339, got)
		require.NoError(c.t, err, where)
		if !at.IsZero() || strings.HasSuffix(recorded, ".000Z") { // the other form is of rows that were not read back
			assert.Equal(c.t, at.IsZero(), ours.IsZero(), "%s: %s", where, got)
		}
		return
	}
	assert.Equal(c.t, recorded, got, where)
}

// unpacked returns the JSON object or list in a string.
func unpacked(text string) (any, bool) {
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		return nil, false
	}
	var out any
	return out, json.Unmarshal([]byte(text), &out) == nil
}
