package classification_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"slipway/api/kube/agentinstall"
	"slipway/api/kube/classification"
)

var now = metav1.NewTime(time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC))

func labelled(name, key, value, query string) agentinstall.AgentClassification {
	return agentinstall.AgentClassification{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       agentinstall.AgentClassificationSpec{LabelKey: key, LabelValue: value, Query: query},
	}
}

func machine(labels map[string]string) *agentinstall.Agent {
	return &agentinstall.Agent{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Status: agentinstall.AgentStatus{Inventory: agentinstall.HostInventory{
			Hostname: "one", Cpu: agentinstall.HostCPU{Count: 8, Architecture: "x86_64"},
			Memory: agentinstall.HostMemory{PhysicalBytes: 32 << 30},
			Disks:  []agentinstall.HostDisk{{ID: "a", DriveType: "SSD", SizeBytes: 120 << 30}, {ID: "b", DriveType: "HDD"}},
		}},
	}
}

func TestQueriesReadTheInventory(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]any{
		".cpu.count == 8": true,
		".cpu.count == 2": false,
		`[.disks[] | select(.driveType == "SSD")] | length > 0`:         true,
		".memory.physicalBytes >= 34359738368 and .hostname == \"one\"": true,
		".gpus":               false, // no boolean is no match
		".cpu.count":          false,
		"empty":               "require one boolean, found no answer",
		"true, false":         "require one boolean, found several answers",
		".disks[].a.b.c":      "require one boolean, found several answers",
		".hostname.a":         "expected an object but got: string",
		"error(\"no\")":       "no",
		"true, error(\"no\")": "no",
		"def f: f; f":         "context deadline exceeded",
		"env.HOME == null":    true,
	} {
		got, err := classification.Evaluate(t.Context(), query, &machine(nil).Status.Inventory)
		if text, failure := want.(string); failure {
			require.ErrorContains(t, err, text, query)
			continue
		}
		require.NoError(t, err, query)
		require.Equal(t, want, got, query)
	}
}

func TestLabelsFollowQueries(t *testing.T) {
	t.Parallel()
	const prefix = "agentclassification.agent-install.openshift.io/"
	list := []agentinstall.AgentClassification{
		labelled("b", "size", "large", ".cpu.count >= 8"), labelled("a", "size", "any", "true"), labelled("c", "size", "small", "false"),
		labelled("d", "disk", "ssd", ".disks[0].driveType == \"SSD\""), labelled("e", "wrong", "x", ".hostname.a"),
		labelled("f", "no query", "x", "true"), labelled("g", "broken", "y", ".["), labelled("h", "gone", "z", "true"),
	}
	list[7].DeletionTimestamp = &now
	a := machine(map[string]string{
		"rack": "a", prefix + "size": "small", prefix + "gone": "z", prefix + "broken": "y", prefix + "by-hand": "a",
	})
	want := map[string]string{
		"rack": "a", prefix + "size": "large", prefix + "disk": "ssd", prefix + "wrong": "QUERYERROR-x", prefix + "broken": "QUERYERROR-y",
		prefix + "by-hand": "a",
	}
	require.Equal(t, want, classification.Labels(t.Context(), a, list))
	a.Labels = want
	require.Equal(t, want, classification.Labels(t.Context(), a, list), "the second time nothing changes")
	list[4].Spec.Query = "false"
	delete(want, prefix+"wrong")
	require.Equal(t, want, classification.Labels(t.Context(), a, list), "the error is gone")

	unknown := &agentinstall.Agent{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{prefix + "size": "small"}}}
	require.Equal(t, unknown.Labels, classification.Labels(t.Context(), unknown, list[:4]), "its inventory has not come")
	require.Equal(t, map[string]string{prefix + "size": "any"}, classification.Labels(t.Context(), machine(nil), list[1:2]))
}

func TestWrongClassificationsSayWhy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ key, value, query, want string }{
		"key":            {"a b", "x", "true", `spec.labelKey: require the name of a label without a prefix, found "a b"`},
		"key with slash": {"a/b", "x", "true", `spec.labelKey: require the name of a label without a prefix, found "a/b"`},
		"value":          {"a", "x y", "true", `spec.labelValue: require the value of a label, of at most 52 characters, that does not begin with QUERYERROR, found "x y"`},
		"long value":     {"a", strings.Repeat("x", 53), "true", "spec.labelValue: require the value of a label"},
		"reserved":       {"a", "QUERYERROR-b", "true", "spec.labelValue: require the value of a label"},
		"query":          {"a", "x", ".[", "spec.query: require a jq program: unexpected EOF"},
		"function":       {"a", "x", "nothing(1)", "spec.query: require a jq program: function not defined: nothing/1"},
	} {
		w := labelled("a", c.key, c.value, c.query)
		require.ErrorContains(t, classification.Check(&w.Spec), c.want, name)
		s := classification.Status(&w, nil, now)
		require.Equal(t, "True HasQueryErrors", string(s.Conditions[0].Status)+" "+s.Conditions[0].Reason)
		require.Contains(t, s.Conditions[0].Message, c.want)
	}
	long := labelled("a", "a", strings.Repeat("x", 52), "true")
	require.NoError(t, classification.Check(&long.Spec))
}

func TestStatusCountsAgents(t *testing.T) {
	t.Parallel()
	c := labelled("a", "size", "large", "true")
	key := "agentclassification.agent-install.openshift.io/size"
	agents := []agentinstall.Agent{
		*machine(map[string]string{key: "large"}), *machine(map[string]string{key: "large"}), *machine(map[string]string{key: "small"}),
		*machine(nil),
	}
	c.Status = classification.Status(&c, agents, now)
	require.Equal(t, []int{2, 0}, []int{c.Status.MatchedCount, c.Status.ErrorCount})
	require.Equal(t, "NoQueryErrors No Agents failed to apply the classification",
		c.Status.Conditions[0].Reason+" "+c.Status.Conditions[0].Message)
	later := metav1.NewTime(now.Add(time.Hour))
	require.Equal(t, c.Status, classification.Status(&c, agents, later), "nothing is written while nothing changes")
	agents[3].Labels = map[string]string{key: "QUERYERROR-large"}
	s := classification.Status(&c, agents, later)
	require.Equal(t, []int{2, 1}, []int{s.MatchedCount, s.ErrorCount})
	require.Equal(t, "HasQueryErrors 1 Agents failed to apply the classification", s.Conditions[0].Reason+" "+s.Conditions[0].Message)
	require.Equal(t, later, s.Conditions[0].LastTransitionTime)
}
