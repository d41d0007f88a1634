package answers

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"slipway/internal/model"
	"slipway/internal/platform/redact"
	"slipway/internal/wire"
)

// shownCluster is a cluster without its hosts.
type shownCluster struct {
	wire.Cluster
	Hosts *struct{} `json:"hosts,omitempty"`
}

// keptCluster is a cluster without what changes while its row does not, and without what is sealed.
type keptCluster struct {
	shownCluster
	EnabledHostCount             *struct{} `json:"enabled_host_count,omitempty"`
	TotalHostCount               *struct{} `json:"total_host_count,omitempty"`
	ReadyHostCount               *struct{} `json:"ready_host_count,omitempty"`
	SchedulableMastersForcedTrue *struct{} `json:"schedulable_masters_forced_true,omitempty"`
	MonitoredOperators           *struct{} `json:"monitored_operators,omitempty"`
}

// clusterMoment is the rest of a cluster.
type clusterMoment struct {
	EnabledHostCount             int64                    `json:"enabled_host_count"`
	TotalHostCount               int64                    `json:"total_host_count"`
	ReadyHostCount               int64                    `json:"ready_host_count"`
	SchedulableMastersForcedTrue bool                     `json:"schedulable_masters_forced_true"`
	MonitoredOperators           []wire.MonitoredOperator `json:"monitored_operators"`
	HTTPProxy                    string                   `json:"http_proxy,omitempty"`
	HTTPSProxy                   string                   `json:"https_proxy,omitempty"`
	InstallConfigOverrides       string                   `json:"install_config_overrides,omitempty"`
}

// keptOrigins are the fields of a cluster that its monitored operators show.
type keptOrigins struct {
	ControlPlaneCount int                 `json:"control_plane_count"`
	OLMOperators      []model.OLMOperator `json:"olm_operators,omitempty"`
}

// KeepCluster renders a cluster for AppendCluster: the length of what its operators need as a varint, that as JSON, and, compressed (S2),
// the fields of the JSON object without its braces. Nothing sealed is in it. It is empty for clusters whose ignition
// endpoint has a password: they need all of their row.
func KeepCluster(c *model.Cluster) []byte {
	if redact.Address(c.IgnitionEndpoint.URL) != c.IgnitionEndpoint.URL {
		return []byte{}
	}
	shown := keptCluster{shownCluster: shownCluster{Cluster: Cluster(c, ClusterView{})}}
	shown.InstallConfigOverrides, shown.HTTPProxy, shown.HTTPSProxy = "", "", ""
	origins := wire.Text(keptOrigins{c.ControlPlaneCount, c.OLMOperators})
	kept := append(binary.AppendUvarint(nil, uint64(len(origins))), origins...)
	return append(kept, packed(fields(shown))...)
}

// AppendCluster appends the JSON of a cluster without its field "hosts". kept is its text, made by KeepCluster; c needs no more than its
// columns and secrets beside it, and gets the settings that its operators and the stages of its hosts depend on. An empty text renders all
// of c.
func AppendCluster(to []byte, c *model.Cluster, kept []byte, view ClusterView) ([]byte, error) {
	if len(kept) == 0 {
		text, err := json.Marshal(shownCluster{Cluster: Cluster(c, view)})
		return append(to, text...), err
	}
	length, size := binary.Uvarint(kept)
	if size <= 0 || length > uint64(len(kept)-size) {
		return nil, fmt.Errorf("cluster %s: %w", c.ID, errKept)
	}
	origins, packed := kept[size:size+int(length)], kept[size+int(length):]
	var operated keptOrigins
	if err := json.Unmarshal(origins, &operated); err != nil {
		return nil, fmt.Errorf("cluster %s: %w", c.ID, errors.Join(errKept, err))
	}
	c.ControlPlaneCount, c.OLMOperators = operated.ControlPlaneCount, operated.OLMOperators
	to = append(append(to, '{'), fields(clusterMomentOf(c, view))...)
	to, err := appendUnpacked(append(to, ','), packed)
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w", c.ID, err)
	}
	return append(to, '}'), nil
}

func clusterMomentOf(c *model.Cluster, view ClusterView) clusterMoment {
	var sealed wire.Cluster
	addClusterSecrets(&sealed, c, view.Secrets)
	return clusterMoment{
		EnabledHostCount: int64(view.Counts.Enabled), TotalHostCount: int64(view.Counts.Total), ReadyHostCount: int64(view.Counts.Ready),
		SchedulableMastersForcedTrue: view.Counts.Workers < workersToFreeMasters, MonitoredOperators: Operators(c, view.Operators),
		HTTPProxy: sealed.HTTPProxy, HTTPSProxy: sealed.HTTPSProxy, InstallConfigOverrides: sealed.InstallConfigOverrides,
	}
}

// Open takes the last brace of an object off.
func Open(object []byte) []byte { return object[:len(object)-1] }
