package staticnet

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// firstRulePriority is NMState's for rules without one; each takes one more than the last.
const firstRulePriority = 30000

// addRules writes policy rules into a connection, preferably a connection with a route in their table.
func (c *conversion) addRules() error {
	rules := c.host.state.Rules.Config
	c.findRuleOwners()
	last := number(firstRulePriority - 1)
	for _, r := range rules {
		if r.Priority != nil {
			last = max(last, *r.Priority)
		}
	}
	for i, r := range rules {
		if r.Priority == nil || *r.Priority == -1 {
			last++
			r.Priority = new(number)
			*r.Priority = last
		}
		if err := c.addRule(r); err != nil {
			return fmt.Errorf("route-rules.config[%d].%w", i, err)
		}
	}
	return nil
}

// tableOf is a table of one family.
type tableOf struct {
	family string
	table  number
}

// ruleOwners are the interfaces whose connections have rules that name no interface, the first of each: there
// may be thousands of rules and of interfaces.
type ruleOwners struct {
	routed    map[tableOf]iface // with a route in a table
	automatic map[tableOf]iface // whose automatic routes are in a table
	family    map[string]iface  // with addresses of a family
}

// findRuleOwners finds the tables that routes are in, and the interfaces that rules go to.
func (c *conversion) findRuleOwners() {
	c.ruled = ruleOwners{map[tableOf]iface{}, map[tableOf]iface{}, map[string]iface{}}
	for _, r := range c.host.state.Routes.Config {
		one, found := c.find(r.Interface)
		network, err := r.destination()
		if !found || err != nil {
			continue
		}
		table, err := c.table(r)
		key := tableOf{familyOf(network.Addr()), table}
		if _, again := c.ruled.routed[key]; err == nil && !again {
			c.ruled.routed[key] = one
		}
	}
	for _, one := range slices.Backward(c.interfaces) {
		for family := range familyName {
			if !c.hasFamily(one, family) {
				continue
			}
			c.ruled.family[family] = one
			if auto := one.family(family); auto.auto() && auto.AutoRouteTable != nil {
				c.ruled.automatic[tableOf{family, *auto.AutoRouteTable}] = one
			}
		}
	}
}

func (c *conversion) addRule(r rule) error {
	from, to, family, err := r.ends()
	if err != nil {
		return err
	}
	if err := r.check(); err != nil {
		return err
	}
	table := number(mainTable)
	if r.Table != nil && *r.Table != 0 {
		table = *r.Table
	}
	one, err := c.ofRule(r, family, table)
	if err != nil {
		return err
	}
	words := []string{"priority", r.Priority.text()}
	add := func(word, value string) {
		if value != "" {
			words = append(words, word, value)
		}
	}
	add("to", to)
	add("from", from)
	add("iif", r.Incoming)
	if r.Suppress != nil {
		add("suppress_prefixlength", r.Suppress.text())
	}
	add("type", r.Action)
	add("table", table.text())
	if r.Mark != nil {
		mark := r.Mark.text()
		if r.Mask != nil {
			mark += "/" + r.Mask.text()
		}
		add("fwmark", mark)
	}
	c.files[one.Name].set(family, c.numbered(one.Name, family, "routing-rule"), strings.Join(words, " "))
	return nil
}

// ends returns the networks of a rule and their family.
func (r rule) ends() (from, to, family string, err error) {
	family = r.Family
	var ends [2]string
	for i, end := range []struct{ key, text string }{{"ip-from", r.From}, {"ip-to", r.To}} {
		if end.text == "" {
			continue
		}
		network, err := parseNetwork(end.text)
		if err != nil || family != "" && familyOf(network.Addr()) != family {
			return "", "", "", fmt.Errorf("%s: require a network of one family, found %q", end.key, end.text)
		}
		family, ends[i] = familyOf(network.Addr()), network.String()
	}
	if family != "ipv4" && family != "ipv6" {
		return "", "", "", errors.New("family: ip-from, ip-to or the family ipv4 or ipv6 is required")
	}
	if ends == [2]string{} {
		ends[0] = map[string]string{"ipv4": "0.0.0.0/0", "ipv6": "::/0"}[family]
	}
	return ends[0], ends[1], family, nil
}

func (r rule) check() error {
	for _, n := range []struct {
		key   string
		value *number
		most  number
	}{
		{"priority", r.Priority, math.MaxUint32},
		{"route-table", r.Table, math.MaxUint32},
		{"fwmark", r.Mark, math.MaxUint32},
		{"fwmask", r.Mask, math.MaxUint32},
		{"suppress-prefix-length", r.Suppress, math.MaxInt32},
	} {
		if n.value != nil && (*n.value < 0 || *n.value > n.most) {
			return fmt.Errorf("%s: require 0 to %d, found %d", n.key, n.most, *n.value)
		}
	}
	switch {
	case !slices.Contains([]string{"", "blackhole", "unreachable", "prohibit"}, r.Action):
		return fmt.Errorf("action: require blackhole, unreachable or prohibit, found %q", r.Action)
	case r.Mask != nil && r.Mark == nil:
		return errors.New("fwmask: fwmark is required with it")
	case r.Table == nil && r.Action == "":
		return errors.New("route-table: a table or an action is required")
	}
	return nil
}

// ofRule returns the interface whose connection has a rule.
func (c *conversion) ofRule(r rule, family string, table number) (iface, error) {
	if r.Incoming != "" {
		one, found := c.find(r.Incoming)
		if !found || !c.hasFamily(one, family) {
			return iface{}, fmt.Errorf("iif: require an interface with %s addresses, found %q", familyName[family], r.Incoming)
		}
		return one, nil
	}
	if one, found := c.ruled.routed[tableOf{family, table}]; found {
		return one, nil
	}
	if one, found := c.ruled.automatic[tableOf{family, table}]; found {
		return one, nil
	}
	if one, found := c.ruled.family[family]; found {
		return one, nil
	}
	return iface{}, fmt.Errorf("family: no interface with %s addresses", familyName[family])
}
