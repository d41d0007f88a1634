package validation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/validation"
	"slipway/internal/model"
)

const disabled = model.ValidationDisabled

func TestRulesThatAreSwitchedOffAreNotEvaluated(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name       string
		deployment []string
		cluster    []string
		off, on    []string
	}{
		{"nothing is off by itself", nil, nil, nil, []string{"ntp-synced", "connected"}},
		{
			"the deployment switches rules off",
			[]string{"ntp-synced", "connected"},
			nil,
			[]string{"ntp-synced", "connected"},
			[]string{"mtu-valid"},
		},
		{"the list of a cluster replaces it", []string{"ntp-synced"}, []string{"mtu-valid"}, []string{"mtu-valid"}, []string{"ntp-synced"}},
		{"an empty list of a cluster replaces it", []string{"ntp-synced"}, []string{}, nil, []string{"ntp-synced"}},
		{
			"a cluster cannot ignore what every installation needs", nil,
			[]string{"all"},
			[]string{"ntp-synced", "has-min-cpu-cores", "lso-requirements-satisfied", "release-domain-name-resolved-correctly"},
			[]string{
				"connected", "has-inventory", "inventory-not-fully-truncated", "machine-cidr-defined", "hostname-unique", "hostname-valid",
			},
		},
		{"not by its name either", nil, []string{"connected", "mtu-valid"}, []string{"mtu-valid"}, []string{"connected"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, hosts := fleet(3)
			hosts[0].NTPSources = nil // fails, when it is evaluated
			c.IgnoredHostValidations = tt.cluster
			facts := hostFacts(c, hosts)
			facts.Options.DisabledHost = tt.deployment
			results := validation.Host(facts)
			for _, id := range tt.off {
				r, _ := find(results, id)
				require.Equal(t, disabled, r.Status, "%s: %s", id, r.Message)
				require.NotEmpty(t, r.Category)
			}
			for _, id := range tt.on {
				r, shown := find(results, id)
				require.True(t, shown, id)
				require.NotEqual(t, disabled, r.Status, id)
			}
		})
	}
}

func TestRulesOfClustersAreSwitchedOffAlike(t *testing.T) {
	t.Parallel()
	evaluate := func(deployment, cluster []string) func(id string) model.ValidationStatus {
		c, hosts := fleet(3)
		c.BaseDNSDomain, c.PullSecret, c.IgnoredClusterValidations = "", "", cluster
		opts := validation.DefaultOptions()
		opts.DisabledCluster = deployment
		results := validation.Cluster(validation.ClusterFacts{Cluster: c, Hosts: hosts, Options: opts, Now: now})
		return func(id string) model.ValidationStatus {
			r, _ := find(results, id)
			return r.Status
		}
	}
	require.Equal(t, fails, evaluate(nil, nil)("dns-domain-defined"))
	require.Equal(t, disabled, evaluate([]string{"dns-domain-defined"}, nil)("dns-domain-defined"))
	require.Equal(t, fails, evaluate([]string{"dns-domain-defined"}, []string{})("dns-domain-defined"))
	all := evaluate(nil, []string{"all"})
	require.Equal(t, disabled, all("dns-domain-defined"))
	require.Equal(t, disabled, all("odf-requirements-satisfied"))
	for _, id := range []string{
		"api-vips-defined", "ingress-vips-defined", "all-hosts-are-ready-to-install", "sufficient-masters-count", "pull-secret-set",
	} {
		require.NotEqual(t, disabled, all(id), id)
	}
	require.Equal(t, fails, all("pull-secret-set"))
}

func TestUnboundHostsFollowTheDeployment(t *testing.T) {
	t.Parallel()
	h := newHost(0)
	h.ClusterID = nil
	opts := validation.DefaultOptions()
	opts.DisabledHost = []string{"ntp-synced", "hostname-unique"}
	results := validation.Host(validation.HostFacts{Host: h, Options: opts, Now: now})
	r, _ := find(results, "ntp-synced")
	require.Equal(t, disabled, r.Status)
	_, shown := find(results, "hostname-unique")
	require.False(t, shown, "it needs a cluster")
}
