package installer

import (
	"fmt"
	"strings"

	"github.com/coreos/ignition/v2/config/v3_5/types"
)

// supported returns an error that names the members of a config that apply does not carry out. Settings of fetches,
// such as proxies and time-outs, have no effect: remote contents are refused.
func supported(c types.Config) error {
	var found []string
	for _, m := range []struct {
		name string
		used bool
	}{
		{"ignition.config.merge", len(c.Ignition.Config.Merge) > 0},
		{"ignition.config.replace", c.Ignition.Config.Replace.Source != nil},
		{"kernelArguments", len(c.KernelArguments.ShouldExist)+len(c.KernelArguments.ShouldNotExist) > 0},
		{"storage.disks", len(c.Storage.Disks) > 0},
		{"storage.filesystems", len(c.Storage.Filesystems) > 0},
		{"storage.luks", len(c.Storage.Luks) > 0},
		{"storage.raid", len(c.Storage.Raid) > 0},
		{"passwd.groups", len(c.Passwd.Groups) > 0},
	} {
		if m.used {
			found = append(found, m.name)
		}
	}
	for _, u := range c.Passwd.Users {
		for _, m := range userMembers(u) {
			found = append(found, "passwd.users."+u.Name+"."+m)
		}
	}
	if len(found) > 0 {
		return fmt.Errorf("not supported on a running host: %s", strings.Join(found, ", "))
	}
	return nil
}

// userMembers lists the members of a user that are set, without name and SSH keys.
func userMembers(u types.PasswdUser) (found []string) {
	for _, m := range []struct {
		name string
		used bool
	}{
		{"gecos", u.Gecos != nil},
		{"groups", len(u.Groups) > 0},
		{"homeDir", u.HomeDir != nil},
		{"noCreateHome", u.NoCreateHome != nil},
		{"noLogInit", u.NoLogInit != nil},
		{"noUserGroup", u.NoUserGroup != nil},
		{"passwordHash", u.PasswordHash != nil},
		{"primaryGroup", u.PrimaryGroup != nil},
		{"shell", u.Shell != nil},
		{"shouldExist", u.ShouldExist != nil && !*u.ShouldExist},
		{"system", u.System != nil},
		{"uid", u.UID != nil},
	} {
		if m.used {
			found = append(found, m.name)
		}
	}
	return found
}
