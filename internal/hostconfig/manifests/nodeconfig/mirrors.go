package nodeconfig

import (
	"fmt"
	"regexp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// mirrorSet redirects images of a source.
type mirrorSet struct {
	Source             string   `json:"source"`
	Mirrors            []string `json:"mirrors"`
	MirrorSourcePolicy string   `json:"mirrorSourcePolicy"`
}

const (
	label      = `(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])`
	host       = label + `(?:\.` + label + `)*(?::[0-9]+)?`
	repository = `(?:/[a-z0-9]+(?:(?:[._]|__|-*)[a-z0-9]+)*)*`
	// neverSource is the policy of sources that are never asked themselves.
	neverSource = "NeverContactSource"
)

// Patterns of the mirror sets of OpenShift (config.openshift.io/v1): a host and a repository; a source may be a wildcard of hosts.
var (
	mirrorPattern = regexp.MustCompile(`^` + host + repository + `$`)
	sourcePattern = regexp.MustCompile(`^\*(?:\.` + label + `)+$|^` + host + repository + `$`)
)

func checkDigestMirrors(object []byte) error {
	var s struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata,omitempty"`

		Spec struct {
			Sets []mirrorSet `json:"imageDigestMirrors"`
		} `json:"spec"`
	}
	if err := decode(object, &s); err != nil {
		return err
	}
	return checkMirrors(s.Spec.Sets)
}

func checkTagMirrors(object []byte) error {
	var s struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata,omitempty"`

		Spec struct {
			Sets []mirrorSet `json:"imageTagMirrors"`
		} `json:"spec"`
	}
	if err := decode(object, &s); err != nil {
		return err
	}
	return checkMirrors(s.Spec.Sets)
}

func checkSourcePolicy(object []byte) error {
	var s struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata,omitempty"`

		Spec struct {
			Sets []mirrorSet `json:"repositoryDigestMirrors"`
		} `json:"spec"`
	}
	if err := decode(object, &s); err != nil {
		return err
	}
	return checkMirrors(s.Spec.Sets)
}

func checkMirrors(sets []mirrorSet) error {
	policies := map[string]string{}
	for _, s := range sets {
		if !sourcePattern.MatchString(s.Source) {
			return fmt.Errorf("invalid format for source %q", s.Source)
		}
		policy := s.MirrorSourcePolicy
		if policy == "" {
			policy = "AllowContactingSource"
		}
		if other, found := policies[s.Source]; found && other != policy {
			return fmt.Errorf("conflicting mirrorSourcePolicy is set for the same source %q", s.Source)
		}
		policies[s.Source] = policy
		for _, m := range s.Mirrors {
			switch {
			case !mirrorPattern.MatchString(m):
				return fmt.Errorf("invalid format for mirror %q", m)
			case policy == neverSource && m == s.Source:
				return fmt.Errorf("cannot set mirrorSourcePolicy: NeverContactSource if the source %q is one of the mirrors", s.Source)
			}
		}
	}
	return nil
}
