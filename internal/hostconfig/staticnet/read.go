package staticnet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"

	"slipway/internal/hostconfig/useryaml"
)

// maxState bounds the settings of one host once aliases are replaced, in bytes: thousands
// of routes, and little enough for a list of many hosts.
const maxState = 256 << 10

// readState parses the YAML into the supported settings and into a tree. An unsupported key is a fault that
// names it.
func readState(text string) (state, map[string]any, error) {
	var s state
	if err := useryaml.Check([]byte(text), maxState); err != nil {
		return s, nil, err
	}
	content, tree, err := readTree(text)
	if err != nil {
		return s, nil, fmt.Errorf(
			"must be a network state in YAML: %s",
			strings.TrimPrefix(firstLine(err.Error()), "error converting YAML to JSON: "),
		)
	}
	if len(tree) == 0 {
		return s, nil, errors.New("a network state in YAML is required")
	}
	if dropShown(tree) {
		if content, err = json.Marshal(tree); err != nil {
			return s, nil, err
		}
	}
	if key := unknownKey(tree, reflect.TypeFor[state](), ""); key != "" {
		return s, nil, unsupported(key, "")
	}
	if err := settle(tree, reflect.TypeFor[state](), ""); err != nil {
		return s, nil, err
	}
	if err := json.Unmarshal(content, &s); err != nil {
		return s, nil, fmt.Errorf("a value of the network state has another type: %s", firstLine(err.Error()))
	}
	return s, tree, nil
}

// readTree returns the YAML as JSON and as a tree, which keeps numbers as they were written.
func readTree(text string) (content []byte, tree map[string]any, err error) {
	if content, err = yaml.YAMLToJSON([]byte(text)); err != nil {
		return nil, nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber()
	return content, tree, decoder.Decode(&tree)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// unknownKey returns the path of the first key that a type has no field for.
func unknownKey(tree any, t reflect.Type, path string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch node := tree.(type) {
	case []any:
		for i, item := range node {
			if t.Kind() != reflect.Slice {
				return "" // reported as another kind of value
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

// reasons explain why keys of NMState that users may expect here are refused, by path.
var reasons = map[string]string{
	"hostname":                     "a host gets its name with requested_hostname, or from DHCP or DNS",
	"capture":                      "a policy needs the state of a running machine, and this is read before there is one",
	"desiredState":                 "a policy needs the state of a running machine, and this is read before there is one",
	"ovs-db":                       openVSwitch,
	"ovn":                          openVSwitch,
	"interfaces[].ovs-db":          openVSwitch,
	"interfaces[].controller":      "name the port at its bond, bridge or VRF",
	"interfaces[].802.1x":          "its certificates would have to be on the machine already",
	"interfaces[].dispatch":        "scripts come with an Ignition config",
	"interfaces[].ethernet.sr-iov": "virtual functions exist only after the settings were applied",
	"interfaces[].veth":            "pairs inside one machine reach no other machine",
	"interfaces[].ipv4.forwarding": "NetworkManager knows it from 1.54 on, set the sysctl",
	"interfaces[].ipv6.forwarding": "NetworkManager knows it from 1.54 on, set the sysctl",
	"interfaces[].pci-address":     "interfaces are found by their MAC address",
	"routes.running":               "it is part of the output of nmstatectl show, give config",
	"dns-resolver.running":         "it is part of the output of nmstatectl show, give config",
	"routes.config[].state":        "a machine that boots has nothing to remove",
	"routes.config[].route-type":   "give a rule with an action",
	"route-rules.config[].state":   "a machine that boots has nothing to remove",
	"interfaces[].ethtool.fec":     "NetworkManager knows it from 1.52 on",
	"interfaces[].alt-names":       "nmstate keeps them outside NetworkManager",
	"interfaces[].mptcp":           "it is not needed to reach the service",
	"options.arp_missed_max":       young, "options.ns_ip6_target": young, "options.lacp_active": young,
	"interfaces[].vlan.ingress-qos-map": young, "interfaces[].vlan.egress-qos-map": young,
	"interfaces[].ipv4.prefix-route-metric": young, "interfaces[].ipv6.prefix-route-metric": young,
	"routes.config[].initcwnd": young, "routes.config[].initrwnd": young, "routes.config[].mtu": young, "routes.config[].lock-mtu": young,
	"routes.config[].quickack": young, "routes.config[].advmss": young,
	"options.group-addr": "nmstate writes it in a way that NetworkManager refuses",
}

// young explains why keys are refused that nmstatectl does not support in the first systems that apply NMState
// by themselves (2.2.39).
const young = "the nmstate of OpenShift 4.18 does not support it"

const openVSwitch = "Open vSwitch runs only after the network is up and is set up by the cluster, use a linux-bridge or a bond here"

var index = regexp.MustCompile(`\[\d+\]`)

// unsupported makes the error of an unsupported key or value.
func unsupported(path, why string) error {
	if why == "" {
		why = reasons[index.ReplaceAllString(path, "[]")]
	}
	if why != "" {
		why = " (" + why + ")"
	}
	return fmt.Errorf("%s is not supported%s", path, why)
}
