package standin

import (
	"cmp"
	"encoding/json"
	"encoding/pem"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/crypto/ssh"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// check holds an install-config against the rules of the real program, and finds all faults at once
// (openshift/installer, pkg/types/validation/installconfig.go).
func (r *run) check(c *config) field.ErrorList {
	switch c.APIVersion {
	case "v1":
	case "":
		return field.ErrorList{field.Required(field.NewPath("apiVersion"), "install-config version required")}
	default:
		return field.ErrorList{field.Invalid(field.NewPath("apiVersion"), c.APIVersion, "install-config version must be v1")}
	}
	var faults field.ErrorList
	for _, rule := range []func(*config) field.ErrorList{
		namesFit, r.sourcesFit, secretsFit, proxyFits, choicesFit, r.networksFit,
		r.controlPlaneFits, r.gatesFit, r.capabilitiesFit, r.platformFits, r.fipsFits,
	} {
		faults = append(faults, rule(c)...)
	}
	return faults
}

var repository = regexp.MustCompile(`^[a-zA-Z0-9.-]+(:[0-9]+)?(/[a-z0-9._-]+)*$`)

func namesFit(c *config) field.ErrorList {
	var faults field.ErrorList
	name := c.Metadata.Name
	switch {
	case name == "":
		faults = append(faults, field.Required(field.NewPath("metadata", "name"), "cluster name required"))
	case len(validation.IsDNS1123Subdomain(name)) > 0:
		faults = append(faults, field.Invalid(field.NewPath("metadata", "name"), name, strings.Join(validation.IsDNS1123Subdomain(name), ", ")))
	case c.onPremises() && strings.Contains(name, "."):
		faults = append(faults, field.Invalid(field.NewPath("metadata", "name"), name, "cluster name must not contain '.'"))
	}
	if problems := validation.IsDNS1123Subdomain(c.BaseDomain); len(problems) > 0 {
		faults = append(faults, field.Invalid(field.NewPath("baseDomain"), c.BaseDomain, strings.Join(problems, ", ")))
	}
	return faults
}

// onPremises reports whether the platform forbids dots in names of clusters.
func (c *config) onPremises() bool {
	p := c.Platform
	return p.BareMetal != nil || p.VSphere != nil || p.Nutanix != nil
}

func (r *run) sourcesFit(c *config) field.ErrorList {
	var faults field.ErrorList
	for name, list := range map[string][]mirrors{"imageContentSources": c.ImageContentSources, "imageDigestSources": c.ImageDigestSources} {
		for i, m := range list {
			at := field.NewPath(name).Index(i)
			for _, text := range append([]string{m.Source}, m.Mirrors...) {
				if !repository.MatchString(text) {
					faults = append(faults, field.Invalid(at, text, "must be a repository without tag or digest"))
				}
			}
		}
	}
	if len(c.ImageContentSources) > 0 && len(c.ImageDigestSources) > 0 {
		// The value is another field's in the real program too.
		faults = append(faults, field.Invalid(field.NewPath("imageContentSources"), cmp.Or(c.Publish, "External"),
			"cannot set imageContentSources and imageDigestSources at the same time"))
	}
	if len(c.ImageContentSources) > 0 && r.minor >= 14 {
		r.log.Warn("imageContentSources is deprecated, please use ImageDigestSources")
	}
	return faults
}

func secretsFit(c *config) field.ErrorList {
	var faults field.ErrorList
	if !validPullSecret(c.PullSecret) {
		faults = append(faults, field.Invalid(field.NewPath("pullSecret"), c.PullSecret, "auths required"))
	}
	if !validBundle(c.AdditionalTrustBundle) {
		faults = append(faults, field.Invalid(field.NewPath("additionalTrustBundle"), c.AdditionalTrustBundle, "invalid block"))
	}
	if c.SSHKey != "" {
		if _, _, _, _, err := ssh.ParseAuthorizedKey([]byte(c.SSHKey)); err != nil {
			reason, _, _ := strings.Cut(err.Error(), ";") // later libraries add why they ignored a line
			faults = append(faults, field.Invalid(field.NewPath("sshKey"), c.SSHKey, reason))
		}
	}
	return faults
}

// validPullSecret wants a key in each entry, whatever its value (openshift/installer, pkg/validate, ImagePullSecret).
func validPullSecret(secret string) bool {
	var s struct {
		Auths map[string]map[string]any `json:"auths"`
	}
	if json.Unmarshal([]byte(secret), &s) != nil || len(s.Auths) == 0 {
		return false
	}
	for _, a := range s.Auths {
		_, auth := a["auth"]
		if _, store := a["credsStore"]; !auth && !store {
			return false
		}
	}
	return true
}

// validBundle wants nothing but certificates, to the last block.
func validBundle(bundle string) bool {
	rest := []byte(strings.TrimSpace(bundle))
	for len(rest) > 0 {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil || block.Type != "CERTIFICATE" {
			return false
		}
	}
	return true
}

func proxyFits(c *config) field.ErrorList {
	if c.Proxy == nil {
		return nil
	}
	var faults field.ErrorList
	if c.Proxy.HTTPProxy == "" && c.Proxy.HTTPSProxy == "" {
		faults = append(faults, field.Required(field.NewPath("proxy"), "must include httpProxy or httpsProxy"))
	}
	for _, p := range []struct {
		name, value string
		schemes     []string
	}{{"httpProxy", c.Proxy.HTTPProxy, []string{"http"}}, {"httpsProxy", c.Proxy.HTTPSProxy, []string{"http", "https"}}} {
		if p.value == "" {
			continue
		}
		at := field.NewPath("proxy", p.name)
		switch address, err := url.ParseRequestURI(p.value); {
		case err != nil:
			faults = append(faults, field.Invalid(at, p.value, err.Error()))
		case !slices.Contains(p.schemes, address.Scheme):
			faults = append(faults, field.NotSupported(at, address.Scheme, p.schemes))
		}
	}
	if strings.ContainsFunc(c.Proxy.NoProxy, unicode.IsSpace) {
		faults = append(faults, field.Invalid(field.NewPath("proxy", "noProxy"), c.Proxy.NoProxy, "must not contain spaces"))
	}
	return faults
}

func choicesFit(c *config) field.ErrorList {
	var faults field.ErrorList
	for _, choice := range []struct {
		path  *field.Path
		found string
		known []string
	}{
		{field.NewPath("publish"), c.Publish, []string{"External", "Internal", "Mixed"}},
		{field.NewPath("additionalTrustBundlePolicy"), c.AdditionalTrustBundlePolicy, []string{"Proxyonly", "Always"}},
		{field.NewPath("cpuPartitioningMode"), c.CPUPartitioningMode, []string{"None", "AllNodes"}},
		{field.NewPath("credentialsMode"), c.CredentialsMode, []string{"Manual", "Mint", "Passthrough"}},
	} {
		if choice.found != "" && !slices.Contains(choice.known, choice.found) {
			faults = append(faults, field.NotSupported(choice.path, choice.found, choice.known))
		}
	}
	if c.Publish == "Internal" && (c.Platform.None != nil || c.Platform.External != nil) {
		faults = append(faults, field.Invalid(field.NewPath("publish"), c.Publish, "internal publish strategy is not supported on this platform"))
	}
	return faults
}

// suitable is where the real program sends users for another one.
const suitable = "\nTo obtain a suitable binary, download the openshift-install-rhel9 archive from the client mirror, " +
	"or extract the openshift-install-fips command from the release payload."

// fipsFits wants a program and a machine that can make the keys of a cluster in FIPS mode, unless the check is
// skipped (openshift/installer, pkg/hostcrypt).
func (r *run) fipsFits(c *config) field.ErrorList {
	if !c.FIPS {
		return nil
	}
	var faults field.ErrorList
	kind, _, _ := strings.Cut(strings.TrimSpace(c.SSHKey), " ")
	if kind != "" && kind != "ssh-rsa" && !strings.HasPrefix(kind, "ecdsa-sha2-nistp") {
		faults = append(faults, field.Invalid(field.NewPath("sshKey"), c.SSHKey,
			"SSH key type "+kind+" unavailable when FIPS is enabled. Please use rsa or ecdsa."))
	}
	problem := ""
	switch {
	case r.minor < 16:
		if !r.hostFIPS {
			r.log.Warn("operation requires a FIPS enabled client")
		}
	case r.build != BuildDynamic && r.hostFIPS:
		problem = "use the FIPS-capable installer binary for RHEL 9." + suitable
	case r.build != BuildDynamic:
		problem = "use the FIPS-capable installer binary for RHEL 9 on a host with FIPS enabled." + suitable
	case !r.hostFIPS:
		problem = "enable FIPS mode on the host"
	}
	if problem == "" {
		return faults
	}
	if r.skipHostCrypt {
		r.log.Warn("fips: Forbidden: target cluster is in FIPS mode, " + problem)
		return faults
	}
	return append(faults, field.Forbidden(field.NewPath("fips"), "target cluster is in FIPS mode, "+problem))
}
