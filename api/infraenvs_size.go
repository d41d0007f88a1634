package api

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"slices"
	"strings"

	"slipway/internal/hostconfig/ignition"
	"slipway/internal/images/remaster"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// checkImage refuses settings that no image can be made of, at the time they are set and not when a machine boots:
// overrides that contradict the service's config, and content larger than the space reserved in an image. A
// disconnected image is not checked: its config comes from the installer of its release.
func (s *server) checkImage(e *model.InfraEnv) error {
	if e.ImageType == string(wire.ImageTypeDisconnectedIso) {
		return nil
	}
	agent, err := s.agentOf(e)
	if errors.Is(err, model.ErrConflict) {
		agent, err = unknownAgent, nil // the agent's program may be published later; its size does not matter here
	}
	if err != nil {
		return err
	}
	config, err := s.discoveryIgnition(e, e.ImageType, agent)
	if err != nil {
		return asInvalid(err)
	}
	packed, err := remaster.IgnitionArchive(config)
	if err != nil {
		return err
	}
	if len(packed) > remaster.IgnitionRoom {
		return model.Invalidf(
			"the settings do not fit into an image: require a discovery config of at most %d bytes packed, found %d; largest: %s",
			remaster.IgnitionRoom,
			len(packed),
			s.largest(e),
		)
	}
	if e.ImageType == string(wire.ImageTypeMinimalIso) {
		_, err = s.minimalInitrd(e)
	}
	return asInvalid(err)
}

// configSettings returns the settings that a discovery config is made of. A config with the network settings of a thousand hosts takes
// a third of a second: settings outside the config must not cost that.
func configSettings(e *model.InfraEnv) string {
	used := *e
	used.KernelArguments, used.RendezvousIP = nil, ""
	return wire.Text(used) + e.PullSecret.Reveal()
}

// unknownAgent stands for the program of an architecture that has none yet.
var unknownAgent = ignition.Agent{URL: "http://agent/slipway-agent", SHA256: strings.Repeat("0", 64)}

// asInvalid turns a conflict into an invalid value: the new value is the cause, not an earlier setting.
func asInvalid(err error) error {
	if errors.Is(err, model.ErrConflict) {
		return model.Invalidf("%s", err)
	}
	return err
}

// largest names the settings that take most of a packed config, with their packed sizes.
func (s *server) largest(e *model.InfraEnv) string {
	type setting struct {
		name string
		size int
	}
	settings := []setting{}
	for name, text := range map[string]string{
		"ignition_config_override": e.IgnitionConfigOverride, "additional_trust_bundle": e.AdditionalTrustBundle,
		"ssh_authorized_key": e.SSHAuthorizedKey, "pull_secret": e.PullSecret.Reveal(),
		"proxy":       e.Proxy.HTTP + e.Proxy.HTTPS + e.Proxy.NoProxy,
		"ntp_sources": joined(e.NTPSources), "static_network_config": e.StaticNetworkConfig,
		"the settings of the service": s.ServiceCA + s.Ignition.RootCA + s.Ignition.Mirror.CA + s.Ignition.Mirror.RegistriesConf,
	} {
		if name == "static_network_config" && e.ImageType == string(wire.ImageTypeMinimalIso) {
			continue // beside the config, in the initramfs
		}
		settings = append(settings, setting{name, gzipSize(text)})
	}
	slices.SortFunc(settings, func(a, b setting) int { return cmp.Or(cmp.Compare(b.size, a.size), strings.Compare(a.name, b.name)) })
	words := make([]string, 0, 3)
	for _, p := range settings[:3] {
		words = append(words, fmt.Sprintf("%s %d", p.name, p.size))
	}
	return strings.Join(words, ", ")
}

func gzipSize(text string) int {
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	_, _ = packed.Write([]byte(text)) // memory takes everything
	_ = packed.Close()
	return out.Len()
}
