package nodeconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	ignitionerrors "github.com/coreos/ignition/v2/config/shared/errors"
	"github.com/coreos/ignition/v2/config/v3_5"
)

// versions are the specifications that the controller reads; 3.6, which Ignition itself reads already, is unknown to it.
const versions = "2.2,3.0,3.1,3.2,3.3,3.4,3.5"

// oldVersion begins the versions that are read by the rules of specification 2.
const oldVersion = "2."

// checkIgnition parses a config as the controller does.
func checkIgnition(raw []byte) error {
	c, report, err := v3_5.ParseCompatibleVersion(raw)
	switch {
	case errors.Is(err, ignitionerrors.ErrUnknownVersion) && strings.HasPrefix(versionOf(raw), oldVersion):
		return checkOldIgnition(raw)
	case errors.Is(err, ignitionerrors.ErrUnknownVersion):
		return errors.New("parsing Ignition config failed: unknown version. Supported spec versions: " + versions)
	case errors.Is(err, ignitionerrors.ErrInvalidVersion):
		return errors.New("parsing Ignition config failed: invalid version. Supported spec versions: " + versions)
	case err != nil:
		return fmt.Errorf("parsing Ignition config spec v3 failed with error: %w%s", err, entries(report.String()))
	case report.IsFatal():
		return fmt.Errorf("parsing Ignition config spec v3 failed%s", entries(report.String()))
	case len(c.KernelArguments.ShouldNotExist) > 0:
		return fmt.Errorf("Ignition kernelArguments.shouldNotExist is not supported, found %v", //nolint:staticcheck // a name
			c.KernelArguments.ShouldNotExist)
	}
	for _, f := range c.Storage.Files {
		if err := checkMode(f.Path, f.Mode); err != nil {
			return err
		}
	}
	return nil
}

// maxEntries bounds the entries of a report that an error repeats.
const maxEntries = 5

// entries appends the first entries of a report to an error, in one line.
func entries(report string) string {
	lines := strings.FieldsFunc(report, func(r rune) bool { return r == '\n' || r == '\r' })
	if len(lines) == 0 {
		return ""
	}
	if len(lines) > maxEntries {
		lines = append(lines[:maxEntries], "...")
	}
	return ": " + strings.Join(lines, "; ")
}

// versionOf returns the version that a config names, empty if it names none.
func versionOf(raw []byte) string {
	var c struct {
		Ignition struct {
			Version string `json:"version"`
		} `json:"ignition"`
	}
	if json.Unmarshal(raw, &c) != nil {
		return ""
	}
	return c.Ignition.Version
}

// checkMode refuses the bits for set-uid, set-gid and sticky, as the controller does.
func checkMode(file string, mode *int) error {
	if mode != nil && *mode > int(fs.ModePerm) {
		return fmt.Errorf("invalid mode %#o for %s, cannot exceed %#o", *mode, file, int(fs.ModePerm))
	}
	return nil
}

// oldIgnition has the members of a config of specification 2.2 that the controller translates to 3.
type oldIgnition struct {
	Ignition struct {
		Version string `json:"version"`
	} `json:"ignition"`
	Storage struct {
		Files []struct {
			Filesystem string `json:"filesystem"`
			Path       string `json:"path"`
			Mode       *int   `json:"mode"`
			Append     bool   `json:"append"`
			Overwrite  *bool  `json:"overwrite"`
			Contents   struct {
				Source      string `json:"source"`
				Compression string `json:"compression"`
			} `json:"contents"`
		} `json:"files"`
	} `json:"storage"`
	Systemd struct {
		Units []struct {
			Name     string `json:"name"`
			Enable   bool   `json:"enable"`
			Enabled  *bool  `json:"enabled"`
			Mask     bool   `json:"mask"`
			Contents string `json:"contents"`
		} `json:"units"`
	} `json:"systemd"`
	Passwd struct {
		Users []struct {
			Name              string   `json:"name"`
			SSHAuthorizedKeys []string `json:"sshAuthorizedKeys"`
		} `json:"users"`
	} `json:"passwd"`
}

// checkOldIgnition reads a config of specification 2.2.
func checkOldIgnition(raw []byte) error {
	const failed = "parsing Ignition spec v2 failed with error: "
	var c oldIgnition
	if err := json.Unmarshal(raw, &c); err != nil {
		return errors.New(failed + err.Error())
	}
	if c.Ignition.Version != "2.2.0" && c.Ignition.Version != "2.1.0" && c.Ignition.Version != "2.0.0" {
		return errors.New("parsing Ignition config failed: unknown version. Supported spec versions: " + versions)
	}
	for _, f := range c.Storage.Files {
		switch {
		case !path.IsAbs(f.Path):
			return fmt.Errorf("%sconfig is not valid: path of file %q is not absolute", failed, f.Path)
		case f.Filesystem != "root":
			return fmt.Errorf("unable to convert Ignition spec v2 config to v3: filesystem %q of %s is not root", f.Filesystem, f.Path)
		}
		if err := checkMode(f.Path, f.Mode); err != nil {
			return err
		}
	}
	for _, u := range c.Passwd.Users {
		if u.Name != "core" {
			return fmt.Errorf("unexpected user with name: %s. Only core user is supported", u.Name)
		}
	}
	return nil
}
