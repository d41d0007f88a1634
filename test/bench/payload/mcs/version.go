package mcs

import (
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"
)

// served is a version of Ignition's specification that the server writes.
type served struct{ major, minor int }

var (
	oldest = served{2, 2} // of programs that ask for no version
	newest = served{3, 5} // of releases from 4.19 on
	// plain is the oldest that has all that the bench's configs use.
	plain = served{3, 1}
)

var accepted = regexp.MustCompile(`^application/vnd\.coreos\.ignition\+json;\s*version=(\d+)\.(\d+)\.\d+`)

// negotiate chooses the version for an Accept header: the first that names one of Ignition decides, a minor that is too
// new gets the newest, without any the answer is 2.2.0. Unknown majors are refused.
func negotiate(header string) (served, bool) {
	for entry := range strings.SplitSeq(header, ",") {
		found := accepted.FindStringSubmatch(strings.TrimSpace(entry))
		if found == nil {
			continue
		}
		major, _ := strconv.Atoi(found[1])
		minor, _ := strconv.Atoi(found[2])
		switch {
		case major == oldest.major && minor == oldest.minor:
			return oldest, true
		case major != newest.major:
			return served{}, false
		}
		return served{major, min(minor, newest.minor)}, true
	}
	return oldest, true
}

// as writes a config in a version. Configs of the bench use nothing that a later minor changed; to the older major they
// are not converted, which fails for some configs of real servers too.
func as(config []byte, version served) ([]byte, error) {
	if version.major != plain.major || version.minor < plain.minor {
		return nil, errNoConversion
	}
	var document map[string]json.RawMessage
	if err := json.Unmarshal(config, &document); err != nil {
		return nil, err
	}
	var ignition map[string]json.RawMessage
	if err := json.Unmarshal(document["ignition"], &ignition); err != nil {
		return nil, err
	}
	ignition["version"] = json.RawMessage(`"` + strconv.Itoa(version.major) + "." + strconv.Itoa(version.minor) + `.0"`)
	var err error
	if document["ignition"], err = json.Marshal(ignition); err != nil {
		return nil, err
	}
	return json.Marshal(document)
}

var errNoConversion = errors.New("no conversion of the config to that version")
