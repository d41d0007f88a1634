package validation_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/validation"
	"slipway/internal/model"
)

const disabled = model.ValidationDisabled

func TestRulesThatAreSwitchedOffDoNotCount(t *testing.T) {
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
			[]string{"ntp-synced", "has-min-cpu-cores", "lso-requirements-satisfied"},
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
			whole := new(model.Cluster)
			*whole = *c
			c.IgnoredHostValidations = tt.cluster
			facts := hostFacts(c, hosts)
			facts.Options.DisabledHost = tt.deployment
			results := validation.Host(facts)
			for _, id := range tt.off {
				r, _ := find(results, id)
				require.True(t, r.Passes(), "%s: %s", id, r.Message)
				require.NotEmpty(t, r.Category)
				if tt.cluster == nil {
					require.Equal(t, disabled, r.Status)
					continue
				}
				require.True(t, r.Ignored, id)
				evaluated, _ := find(validation.Host(hostFacts(whole, hosts)), id)
				require.Equal(t, evaluated.Status, r.Status, "users see what they ignore")
				require.Contains(t, r.Message, evaluated.Message)
				require.Equal(t, !evaluated.Passes(), strings.HasSuffix(r.Message, " (the cluster ignores this)"))
			}
			for _, id := range tt.on {
				r, shown := find(results, id)
				require.True(t, shown, id)
				require.NotEqual(t, disabled, r.Status, id)
				require.False(t, r.Ignored, id)
			}
		})
	}
}

func TestRulesOfClustersAreSwitchedOffAlike(t *testing.T) {
	t.Parallel()
	evaluate := func(deployment, cluster []string) func(id string) model.ValidationResult {
		c, hosts := fleet(3)
		c.BaseDNSDomain, c.PullSecret, c.IgnoredClusterValidations = "", "", cluster
		opts := validation.DefaultOptions()
		opts.DisabledCluster = deployment
		results := validation.Cluster(validation.ClusterFacts{Cluster: c, Hosts: hosts, Options: opts, Now: now})
		return func(id string) model.ValidationResult {
			r, _ := find(results, id)
			return r
		}
	}
	require.True(t, evaluate(nil, nil)("dns-domain-defined").Fails())
	require.Equal(t, disabled, evaluate([]string{"dns-domain-defined"}, nil)("dns-domain-defined").Status)
	require.True(t, evaluate([]string{"dns-domain-defined"}, []string{})("dns-domain-defined").Fails())
	all := evaluate(nil, []string{"all"})
	require.Equal(t, fails, all("dns-domain-defined").Status, "users see what they ignore")
	require.True(t, all("dns-domain-defined").Passes())
	require.True(t, all("odf-requirements-satisfied").Ignored)
	for _, id := range []string{
		"api-vips-defined", "ingress-vips-defined", "all-hosts-are-ready-to-install", "sufficient-masters-count", "pull-secret-set",
	} {
		require.False(t, all(id).Ignored, id)
	}
	require.True(t, all("pull-secret-set").Fails())
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
