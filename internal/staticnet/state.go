package staticnet

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"slipway/internal/boundedyaml"
	"slipway/internal/model"
)

// state is the part of NMState's schema (nmstate.io, version 2) that is understood.
type state struct {
	Interfaces []iface `json:"interfaces"`
	DNS        struct {
		Config dnsConfig `json:"config"`
	} `json:"dns-resolver"`
	Routes struct {
		Config []route `json:"config"`
	} `json:"routes"`
	Rules struct {
		Config []rule `json:"config"`
	} `json:"route-rules"`
}

type iface struct {
	Name        string    `json:"name"`
	Type        string    `json:"type"`
	State       string    `json:"state"` // up, down
	Description string    `json:"description"`
	ProfileName string    `json:"profile-name"`
	Identifier  string    `json:"identifier"`
	MAC         string    `json:"mac-address"`
	MTU         *int      `json:"mtu"`
	IPv4        ip        `json:"ipv4"`
	IPv6        ip        `json:"ipv6"`
	VLAN        *vlan     `json:"vlan"`
	Bond        *bond     `json:"link-aggregation"`
	Bridge      *bridge   `json:"bridge"`
	Ethernet    *ethernet `json:"ethernet"`
	LLDP        *struct {
		Enabled bool `json:"enabled"`
	} `json:"lldp"`
}

type ip struct {
	Enabled        bool      `json:"enabled"`
	DHCP           bool      `json:"dhcp"`
	Autoconf       bool      `json:"autoconf"` // IPv6
	Address        []address `json:"address"`
	AutoDNS        *bool     `json:"auto-dns"`
	AutoGateway    *bool     `json:"auto-gateway"`
	AutoRoutes     *bool     `json:"auto-routes"`
	AutoRouteTable int       `json:"auto-route-table-id"`
	AutoMetric     *int      `json:"auto-route-metric"`
	AddrGenMode    string    `json:"addr-gen-mode"` // IPv6
}

type address struct {
	IP     string `json:"ip"`
	Prefix *int   `json:"prefix-length"`
}

type vlan struct {
	Base string `json:"base-iface"`
	ID   int    `json:"id"`
}

type bond struct {
	Mode    string         `json:"mode"`
	Options map[string]any `json:"options"`
	Port    []string       `json:"port"`
	Slaves  []string       `json:"slaves"` // the former name of port
}

func (b *bond) ports() []string { return slices.Concat(b.Port, b.Slaves) }

type bridge struct {
	Options struct {
		STP struct {
			Enabled      *bool `json:"enabled"`
			Priority     *int  `json:"priority"`
			ForwardDelay *int  `json:"forward-delay"`
			HelloTime    *int  `json:"hello-time"`
			MaxAge       *int  `json:"max-age"`
		} `json:"stp"`
		AgeingTime       *int `json:"mac-ageing-time"`
		GroupForwardMask *int `json:"group-forward-mask"`
	} `json:"options"`
	Port []bridgePort `json:"port"`
}

type bridgePort struct {
	Name     string `json:"name"`
	Hairpin  *bool  `json:"stp-hairpin-mode"`
	PathCost *int   `json:"stp-path-cost"`
	Priority *int   `json:"stp-priority"`
}

type ethernet struct {
	AutoNegotiation *bool  `json:"auto-negotiation"`
	Speed           *int   `json:"speed"` // Mb/s
	Duplex          string `json:"duplex"`
}

type dnsConfig struct {
	Server  []string `json:"server"`
	Search  []string `json:"search"`
	Options []string `json:"options"`
}

type route struct {
	Destination string `json:"destination"`
	NextHop     string `json:"next-hop-address"`
	Interface   string `json:"next-hop-interface"`
	Metric      *int   `json:"metric"`
	Table       int    `json:"table-id"`
}

type rule struct {
	From     string `json:"ip-from"`
	To       string `json:"ip-to"`
	Priority *int   `json:"priority"`
	Table    int    `json:"route-table"`
	Family   string `json:"family"`
}

// maxState bounds the settings of one host once aliases are replaced, in bytes: thousands
// of routes, and little enough for a list of many hosts.
const maxState = 256 << 10

// readState reads the YAML; a key that is not understood is a fault that names it.
func readState(text string) (state, error) {
	var s state
	var tree map[string]any
	if err := boundedyaml.Unmarshal([]byte(text), maxState, &tree); err != nil {
		if errors.Is(err, model.ErrInvalid) {
			return s, err
		}
		return s, fmt.Errorf("require a network state in YAML, found a fault: %s", strings.TrimPrefix(firstLine(err.Error()), "error converting YAML to JSON: "))
	}
	if len(tree) == 0 {
		return s, fmt.Errorf("require a network state in YAML, found none")
	}
	if key := unknownKey(tree, reflect.TypeFor[state](), ""); key != "" {
		return s, fmt.Errorf("%s: require a key that is supported, found one that is not", key)
	}
	if err := yaml.Unmarshal([]byte(text), &s); err != nil {
		return s, fmt.Errorf("require a network state in YAML, found another kind of value: %s", firstLine(err.Error()))
	}
	return s, nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// unknownKey is the path of the first key that a type has no field for.
func unknownKey(tree any, t reflect.Type, path string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch node := tree.(type) {
	case []any:
		for i, item := range node {
			if t.Kind() != reflect.Slice {
				return "" // told as another kind of value
			}
			if key := unknownKey(item, t.Elem(), fmt.Sprintf("%s[%d]", path, i)); key != "" {
				return key
			}
		}
	case map[string]any:
		if t.Kind() != reflect.Struct {
			return ""
		}
		fields := map[string]reflect.Type{}
		for i := range t.NumField() {
			fields[t.Field(i).Tag.Get("json")] = t.Field(i).Type
		}
		for _, name := range sortedKeys(node) {
			at := strings.TrimPrefix(path+"."+name, ".")
			field, known := fields[name]
			if !known {
				return at
			}
			if key := unknownKey(node[name], field, at); key != "" {
				return key
			}
		}
	}
	return ""
}
