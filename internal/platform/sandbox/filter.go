package sandbox

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	elastic "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	moby "github.com/moby/profiles/seccomp"
	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"
)

// filterCalls leaves the program the system calls that Docker leaves a container without capabilities. Others, and calls of another
// instruction set, are EPERM.
func filterCalls() error {
	filters, err := filters()
	if err != nil {
		return err
	}
	for _, policy := range filters {
		if err := elastic.LoadFilter(elastic.Filter{Policy: policy}); err != nil {
			return err
		}
	}
	return nil
}

// calls collects what a program may call.
type calls struct {
	known   *arch.Info
	allowed []string                              // also those that are refused for some arguments
	errnos  map[string]elastic.Action             // answered with another error than EPERM
	refused map[string]elastic.ArgumentConditions // each of which has to hold to refuse a call
}

// filters returns the filters of the default profile of Docker. A call has to pass all of them: one for each call that depends on its
// arguments, and last the list of calls.
var filters = sync.OnceValues(func() ([]elastic.Policy, error) {
	known, err := arch.GetInfo(runtime.GOARCH)
	if err != nil {
		return nil, err
	}
	c := &calls{known: known, errnos: map[string]elastic.Action{}, refused: map[string]elastic.ArgumentConditions{}}
	for _, rule := range moby.DefaultProfile().Syscalls {
		if !applies(rule) {
			continue
		}
		for _, name := range rule.Names {
			if _, has := known.SyscallNames[name]; !has {
				continue
			}
			if err := c.add(name, rule); err != nil {
				return nil, fmt.Errorf("read the rule for %s: %w", name, err)
			}
		}
	}
	return c.policies(), nil
})

// applies reports whether a rule is for programs without capabilities on this architecture. What it says of kernels is for older ones
// than sandboxes need (5.12).
func applies(rule *moby.Syscall) bool {
	here := func(f *moby.Filter) bool { return slices.Contains(f.Arches, runtime.GOARCH) }
	switch {
	case rule.Includes != nil && (len(rule.Includes.Caps) > 0 || len(rule.Includes.Arches) > 0 && !here(rule.Includes)):
		return false
	case rule.Excludes != nil && here(rule.Excludes):
		return false
	}
	return true
}

var errRule = errors.New("its form is not known")

func (c *calls) add(name string, rule *moby.Syscall) error {
	switch {
	case rule.Action == specs.ActErrno && rule.ErrnoRet != nil && len(rule.Args) == 0:
		c.errnos[name] = elastic.ActionErrno | elastic.Action(*rule.ErrnoRet)
		return nil
	case rule.Action != specs.ActAllow || len(rule.Args) > 1:
		return errRule
	}
	if !slices.Contains(c.allowed, name) {
		c.allowed = append(c.allowed, name)
	}
	if len(rule.Args) == 0 {
		return nil
	}
	condition, err := unless(rule.Args[0])
	c.refused[name] = append(c.refused[name], condition)
	return err
}

// unless returns the condition under which a call is refused that is allowed under another.
func unless(allowed specs.LinuxSeccompArg) (elastic.Condition, error) {
	out := elastic.Condition{Argument: uint32(allowed.Index), Value: allowed.Value} //nolint:gosec // six arguments
	switch {
	case allowed.Op == specs.OpEqualTo:
		out.Operation = elastic.NotEqual
	case allowed.Op == specs.OpLessThan:
		out.Operation = elastic.GreaterOrEqual
	case allowed.Op == specs.OpMaskedEqual && allowed.ValueTwo == 0:
		out.Operation = elastic.BitsSet
	default:
		return out, errRule
	}
	return out, nil
}

func (c *calls) policies() (out []elastic.Policy) {
	for name, conditions := range c.refused {
		out = append(out, elastic.Policy{DefaultAction: elastic.ActionAllow, Syscalls: []elastic.SyscallGroup{{
			Action:             elastic.ActionErrno | elastic.Action(unix.EPERM),
			NamesWithCondtions: []elastic.NameWithConditions{{Name: name, Conditions: conditions}},
		}}})
	}
	list := elastic.Policy{DefaultAction: elastic.ActionErrno}
	for name, action := range c.errnos {
		list.Syscalls = append(list.Syscalls, elastic.SyscallGroup{Action: action, Names: []string{name}})
	}
	list.Syscalls = append(list.Syscalls, elastic.SyscallGroup{Action: elastic.ActionAllow, Names: c.allowed})
	return append(out, list)
}
