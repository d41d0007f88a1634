package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// many joins a text for each number; every one of them is different.
func many(n int, format, separator string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(list, separator)
}

func TestListsBeyondReasonAreRefusedBeforeTheyAreCompared(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c, e := s.cluster(nil), s.infraEnv(uuid.Nil)
	text := func(field, value string) string { return `{"` + field + `":"` + value + `"}` }
	for name, x := range map[string]struct {
		method, path, body string
		status             int
		reason             string
	}{
		"sources of time of a cluster": {
			http.MethodPatch, clusterPath(c.ID), text("additional_ntp_source", many(400_000, "%d.a", ",")), 400,
			"additional_ntp_source: more than 100 sources",
		},
		"sources of time of an InfraEnv": {
			http.MethodPatch, envPath(e.ID), text("ntp_sources", many(400_000, "%d.a", ",")), 400,
			"ntp_sources: more than 100 sources",
		},
		"operators": {
			http.MethodPatch, clusterPath(c.ID), `{"olm_operators":[` + many(20_000, `{"name":"o%d"}`, ",") + `]}`, 400,
			"olm_operators: require at most 10000 items, found 20000",
		},
		"bundles of operators": {
			http.MethodPatch, clusterPath(c.ID), `{"operator_bundles":[` + many(20_000, `{"id":"o%d"}`, ",") + `]}`, 400,
			"operator_bundles: require at most 10000 items, found 20000",
		},
		"machine networks": {
			http.MethodPatch, clusterPath(c.ID), `{"machine_networks":[` + many(20_000, `{"cidr":"2001:db8:%x::/48"}`, ",") + `]}`, 400,
			"machine_networks: require at most 10000 items, found 20000",
		},
		"ignored validations": {
			http.MethodPut, clusterPath(c.ID) + "/ignored-validations", text("host-validation-ids", `[`+many(300_000, `\"v%d\"`, ",")+`]`),
			400, "host-validation-ids: require at most 1000 ids, found 300000",
		},
		"lists within lists": {
			http.MethodPatch, clusterPath(c.ID), `{"tags":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`, 400,
			"more than 64 levels of JSON",
		},
		"a tree of small values": {
			http.MethodPatch, clusterPath(c.ID), `{"tags":[` + many(200_000, `%d`, ",") + `]}`, 400, "require JSON of at most 100000 values",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reason := s.send(x.method, x.path, x.body).Reason(x.status)
			require.Contains(t, reason, x.reason)
			require.Less(t, len(reason), 1000)
		})
	}
}
