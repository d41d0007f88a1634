package twin

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// rule explains a difference that is deliberate.
type rule struct {
	id      string
	explain func(outcome, difference) bool
}

// rules are described in docs/compatibility.md, which says why each difference is meant.
var rules = slices.Concat(answerRules, requestRules)

// answerRules explain facts.
var answerRules = []rule{
	{"K1", func(o outcome, d difference) bool {
		return o.want["/install_config_code"] == "500" && o.got["/install_config_code"] == "200" &&
			strings.HasPrefix(d.path, "/install_config") && !strings.HasPrefix(d.path, "/install_config/platform/none")
	}},
	{"K11", func(o outcome, d difference) bool {
		return o.name == "openshift_versions version=4.2" && (d.got == absent || d.got == "{}")
	}},
	{"K12", func(o outcome, d difference) bool {
		return o.name == "bundle_codes nope" && d.want == "500" && d.got == "404" ||
			o.name == "openshift_versions version=nope" && d.want == "{}" && d.got == "400"
	}},
	{"K13", func(o outcome, d difference) bool {
		return strings.Contains(o.name, `"control_plane_count":1`) && matches(d, `^/requirements/mce/(master|worker)/(cpu_cores|ram_mib)$`) &&
			(d.want == "4" && d.got == "8" || d.want == "16384" && d.got == "32768")
	}},
	{"K18", func(o outcome, d difference) bool {
		old := strings.Contains(o.name, `"openshift_version":"4.14"`) || strings.Contains(o.name, `"openshift_version":"4.16"`)
		return strings.HasPrefix(o.name, "preflight ") && old && o.got["/create"] == "400" && o.want["/create"] == "201" &&
			matches(difference{path: o.name}, `"(loki|openshift-logging|cluster-observability)"`)
	}},
	{"K19", func(o outcome, _ difference) bool {
		return strings.HasPrefix(o.name, "preflight ") && o.got["/create"] == "201" && o.want["/create"] == "400" &&
			matches(difference{path: o.name}, `"control_plane_count":1.*"operator_bundles"`)
	}},
	{"K19", func(o outcome, d difference) bool {
		return strings.HasPrefix(o.name, "bundles ") && strings.HasSuffix(o.name, "feature_ids=SNO") && d.path == "/virtualization/operators" &&
			d.want == absent
	}},
	{"K22", func(o outcome, d difference) bool {
		return strings.HasPrefix(o.name, "preflight ") && d.path == "/operators" && !strings.Contains(d.want, "self-node-remediation") &&
			strings.Contains(d.want, "node-healthcheck") && strings.Replace(d.got, `,"self-node-remediation"`, "", 1) == d.want
	}},
	{"K22", func(o outcome, d difference) bool {
		return o.file == "verdicts" && d.path == "/cluster/operators" && strings.Contains(d.want, `"node-healthcheck"`) &&
			!strings.Contains(d.want, "self-node-remediation") &&
			slices.Equal(slices.Sorted(slices.Values(append(readNames(d.want), "self-node-remediation"))), readNames(d.got))
	}},
	{"K23", func(o outcome, d difference) bool {
		return matches(d, `/validations/(api|api-int|apps)-domain-name-resolved-correctly$`) && d.want == `"success"` && d.got == `"failure"` &&
			o.namesItself(d)
	}},
	{"K24", func(o outcome, d difference) bool {
		return d.path == "/install_config/platform/baremetal/additionalNTPServers" && d.got == absent &&
			matches(difference{path: o.name}, `-4\.1[4-7]-`)
	}},
	{"K25", func(o outcome, d difference) bool {
		return d.path == "/install_config/fips" && d.want == "true" && d.got == "false"
	}},
	{"K26", func(o outcome, d difference) bool {
		return o.file == "verdicts" && o.multipath() &&
			(matches(d, `/(suggested_role|status|validations/(odf-requirements-satisfied|has-cpu-cores-for-role))$`) ||
				d.path == "/cluster/validations/sufficient-masters-count") && strings.Contains(o.want["/cluster/operators"], `"odf"`)
	}},
	{"K33", func(o outcome, d difference) bool {
		return o.file == "verdicts" && o.directPaths() &&
			(matches(d, `/(eligible_disks|installation_disk_id|status|role|suggested_role|bootstrap)$`) ||
				matches(d, `/validations/(has-min-valid-disks|no-skip-[a-z-]+|sufficient-[a-z-]+|no-iscsi-nic-belongs-to-machine-cidr)$`) ||
				d.path == "/cluster/validations/all-hosts-are-ready-to-install")
	}},
	{"K34", func(o outcome, d difference) bool {
		return o.file == "install-config" && d.path == "/install_config/sshKey" && d.want == `"ssh-rsa AAAA"` && d.got == `""`
	}},
	{"K35", func(o outcome, d difference) bool {
		return o.file == "verdicts" && matches(d, `/installation_disk_id$`) && o.removable(d.want) && !o.removable(d.got)
	}},
	{"E5", func(o outcome, d difference) bool {
		return d.path == "/install_config/proxy/noProxy" && o.userManaged() && strings.HasPrefix(d.got, strings.TrimSuffix(d.want, `"`)+",")
	}},
	{"E33", func(o outcome, d difference) bool {
		return o.name == "openshift_versions only_latest=true" && matches(d, `^/[0-9.]+-multi/`) && d.want == absent
	}},
	{"E27", func(o outcome, d difference) bool {
		return d.path == "/ocp/master/packet_loss_percentage" && d.want == absent && d.got == "0" &&
			strings.Contains(o.name, `"control_plane_count":1`)
	}},
	{"E1", func(_ outcome, d difference) bool {
		return matches(d, `^/install_config/platform/baremetal/hosts/\d+/role$`) && d.want == `"auto-assign"`
	}},
	{"E3", otherCase},
	{"E4", func(_ outcome, d difference) bool {
		return matches(d, `/fencing/credentials/\d+/certificateVerification$`) && d.want == absent && d.got == `"Enabled"`
	}},
	{"E5", func(o outcome, d difference) bool {
		return matches(d, `^/install_config/networking/machineNetwork/`) && d.want == absent && o.userManaged()
	}},
	{"E6", func(_ outcome, d difference) bool { return strings.Contains(d.want, "{placeholder}") }},
	{"E7", func(_ outcome, d difference) bool {
		return d.path == "/install_config/additionalTrustBundle" && certificates(d.want) == certificates(d.got)
	}},
	{"E8", func(o outcome, d difference) bool {
		return o.noInventory(d) && matches(d, `/validations/(has-inventory|hostname-valid)$`) && d.want == `"failure"` && d.got == `"pending"`
	}},
	{"E25", func(o outcome, d difference) bool {
		return matches(d, `/validations/sufficient-installation-disk-speed$`) && d.want == `"error"` && d.got == `"success"` &&
			o.want[host(d)+"/installation_disk_id"] == `""`
	}},
	{"E26", func(o outcome, d difference) bool {
		return o.noInventory(d) && matches(d, `/validations/no-ip-collisions-in-network$`) && d.want == `"success"` && d.got == `"pending"` ||
			matches(d, `/validations/sufficient-(network-latency|packet-loss)-requirement-for-role$`) &&
				d.want == `"pending"` && d.got == `"success"`
	}},
	{"E9", func(o outcome, d difference) bool {
		return matches(d, `/validations/dns-wildcard-not-configured$`) && d.want == `"pending"` && d.got == `"error"` &&
			o.want["/cluster/validations/dns-domain-defined"] != `"success"`
	}},
	{"E10", func(o outcome, d difference) bool {
		return matches(d, `/validations/no-iscsi-nic-belongs-to-machine-cidr$`) && d.want == `"pending"` && d.got == absent &&
			o.want["/cluster/machine_networks"] == "[]"
	}},
}

// otherCases are names that the installer reads without case.
var otherCases = map[string]string{
	"hostname": "hostName", "PlatformName": "platformName", "CloudControllerManager": "cloudControllerManager",
}

// otherCase explains both halves of a name in another case, when the values are equal.
func otherCase(o outcome, d difference) bool {
	if o.file != "install-config" || !matches(d, `/(fencing/credentials/\d+|platform/external)/\w+$`) {
		return false
	}
	at := strings.LastIndex(d.path, "/") + 1
	for recorded, ours := range otherCases {
		want, wanted := o.want[d.path[:at]+recorded]
		got, exists := o.got[d.path[:at]+ours]
		if name := d.path[at:]; name == recorded || name == ours {
			// An empty value is the same as none.
			return wanted && exists && want == got || wanted && !exists && want == `""`
		}
	}
	return false
}

func matches(d difference, pattern string) bool {
	return regexp.MustCompile(pattern).MatchString(d.path)
}

// host returns the beginning of the path that a host's facts have.
func host(d difference) string { return regexp.MustCompile(`^/hosts/\d+`).FindString(d.path) }

// namesItself reports whether the names of the cluster lead to the host of a fact alone.
func (o outcome) namesItself(d difference) bool {
	i, err := strconv.Atoi(strings.TrimPrefix(host(d), "/hosts/"))
	if err != nil || i >= len(o.hosts) {
		return false
	}
	replies, _ := o.hosts[i].(map[string]any)["replies"].(map[string]any)
	own, found := reply(replies, "inventory"), reply(replies, "domain-resolution")
	for _, item := range list(found["resolutions"]) {
		resolution, _ := item.(map[string]any)
		if label, _ := resolution["domain_name"].(string); !strings.HasPrefix(label, "api.") {
			continue
		}
		addresses := list(resolution["ipv4_addresses"])
		return len(addresses) > 0 && !slices.ContainsFunc(addresses, func(address any) bool {
			return !slices.ContainsFunc(list(own["interfaces"]), func(nic any) bool {
				return slices.ContainsFunc(list(nic.(map[string]any)["ipv4_addresses"]), func(with any) bool {
					return strings.HasPrefix(fmt.Sprint(with), fmt.Sprint(address)+"/")
				})
			})
		})
	}
	return false
}

// directPaths reports whether a host has a multipath device, and a disk without a network below a device.
func (o outcome) directPaths() bool {
	return o.multipath() && o.hasDisk(func(disk map[string]any) bool {
		holders, _ := disk["holders"].(string)
		return strings.HasPrefix(holders, "dm-") && (disk["drive_type"] == "HDD" || disk["drive_type"] == "SSD")
	})
}

// removable reports whether a host has a removable disk of this id, as JSON.
func (o outcome) removable(id string) bool {
	return o.hasDisk(func(disk map[string]any) bool {
		return disk["removable"] == true && fmt.Sprintf("%q", disk["id"]) == id
	})
}

// multipath reports whether a host has a multipath device.
func (o outcome) multipath() bool {
	return o.hasDisk(func(disk map[string]any) bool { return disk["drive_type"] == "Multipath" })
}

// hasDisk reports whether a disk of a host's inventory fits.
func (o outcome) hasDisk(fits func(disk map[string]any) bool) bool {
	return slices.ContainsFunc(o.hosts, func(item any) bool {
		replies, _ := item.(map[string]any)["replies"].(map[string]any)
		return slices.ContainsFunc(list(reply(replies, "inventory")["disks"]), func(disk any) bool { return fits(disk.(map[string]any)) })
	})
}

// reply returns the output of a step of some type, when a host replied with an object.
func reply(replies map[string]any, step string) map[string]any {
	all := list(replies[step])
	if len(all) < 2 {
		return nil
	}
	output, _ := all[1].(map[string]any)
	return output
}

// readNames reads a list of names.
func readNames(text string) []string {
	var out []string
	_ = json.Unmarshal([]byte(text), &out)
	return out
}

// noInventory reports whether the host of a fact has no inventory.
func (o outcome) noInventory(d difference) bool {
	at := host(d)
	return at != "" && o.want[at+"/validations/has-inventory"] == `"failure"`
}

// userManaged reports whether the install-config is of platform none or external.
func (o outcome) userManaged() bool {
	for path := range o.got {
		if strings.HasPrefix(path, "/install_config/platform/none") || strings.HasPrefix(path, "/install_config/platform/external") {
			return true
		}
	}
	return false
}

// certificates returns the different certificates of a bundle, sorted.
func certificates(bundle string) string {
	parts := strings.SplitAfter(strings.ReplaceAll(strings.Trim(bundle, `"`), `\n`, ""), "-----END CERTIFICATE-----")
	slices.Sort(parts)
	return strings.Join(slices.Compact(parts), "")
}
