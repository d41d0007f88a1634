package api

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/google/uuid"

	"slipway/api/admission"
	"slipway/internal/cluster/answers"
	"slipway/internal/cluster/events"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/hostconfig/ignition"
	"slipway/internal/model"
	"slipway/internal/platform/blob"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// writerArgs are the arguments of coreos-installer that a user may add; true for those
// that take a value. The disk and the Ignition config are the service's to choose.
var writerArgs = map[string]bool{
	"--append-karg": true, "--delete-karg": true, "--network-dir": true, "--image-url": true, "--image-file": true,
	"--save-partlabel": true, "--save-partindex": true, "--console": true, "--platform": true,
	"-n": false, "--copy-network": false, "--preserve-on-error": false, model.Unsigned: false,
}

// V2UpdateHostInstallerArgs sets arguments of the program that writes the disk.
func (s *server) V2UpdateHostInstallerArgs(w http.ResponseWriter, r *http.Request, infraEnvID, hostID uuid.UUID) error {
	var params wire.InstallerArgsParams
	if err := admission.Read(r, &params); err != nil {
		return err
	}
	if err := checkWriterArgs(deref(params.Args)); err != nil {
		return err
	}
	return s.changeHost(created, w, r, infraEnvID, hostID, func(h *model.Host, tx *store.Tx) error {
		if err := checkForeignArgs(h, deref(params.Args)); err != nil {
			return err
		}
		h.InstallerArgs = deref(params.Args)
		record(r, tx, events.HostInstallerArgsApplied, lifecycle.AboutHost(h), nil)
		return nil
	})
}

func checkWriterArgs(args []string) error {
	for i := 0; i < len(args); i++ {
		name, value, inline := strings.Cut(args[i], "=")
		takesValue, known := writerArgs[name]
		if !known {
			return model.Invalidf("args: require arguments of coreos-installer such as --append-karg, found %q", args[i])
		}
		if inline && !takesValue {
			return model.Invalidf("args: require no value for %s, found %q", name, value)
		}
		if !takesValue {
			continue
		}
		if !inline {
			if i++; i == len(args) || strings.HasPrefix(args[i], "-") && !partitionsUpTo(name, args[i]) {
				return model.Invalidf("args: a value is required after %s", name)
			}
			value = args[i]
		}
		if err := checkWriterValue(name, value); err != nil {
			return err
		}
	}
	if slices.Contains(args, model.Unsigned) && !model.NamesImage(args) {
		return model.Invalidf("args: require --image-url or --image-file with %s, found neither", model.Unsigned)
	}
	return nil
}

// foreignOptions and foreignValue are all that agents of openshift/assisted-installer-agent pass to coreos-installer: they refuse to
// install a host with other arguments (openshift/assisted-service, pkg/validations, ValidateInstallerArgs).
var (
	foreignOptions = []string{
		model.AppendKarg, "--delete-karg", model.CopyNetwork, "--network-dir", "--save-partlabel", "--save-partindex", "--image-url",
		"--image-file",
	}
	foreignValue = regexp.MustCompile(`^[A-Za-z0-9@!#$%*()_+,./:;<=",'{}\[\]-]+$`)
)

// checkForeignArgs returns an error for arguments that the agent of a host refuses; agents of Slipway take all.
func checkForeignArgs(h *model.Host, args []string) error {
	if h.AgentSteps == model.FineSteps {
		return nil
	}
	for _, o := range model.WriterOptions(args) {
		if !slices.Contains(foreignOptions, o.Name) {
			return model.Invalidf("args: the agent of host %s takes no %s, require one of %s", h.Hostname(), o.Name,
				strings.Join(foreignOptions, ", "))
		}
		if o.Valued && !foreignValue.MatchString(o.Value) {
			return model.Invalidf("args: the agent of host %s takes no blanks and no signs such as & and ? in %q", h.Hostname(), o.Value)
		}
	}
	return nil
}

// partitionsUpTo reports whether a value that looks like an option is a range of partitions without a beginning, such as
// --save-partindex -4.
func partitionsUpTo(name, value string) bool {
	_, err := strconv.ParseUint(strings.TrimPrefix(value, "-"), 10, 32)
	return name == "--save-partindex" && err == nil
}

// checkWriterValue refuses an image that others on the network could replace on its way: images of RHCOS have no signatures beside
// them (mirror.openshift.com), so that users write them with --insecure, and the connection proves the image.
func checkWriterValue(name, value string) error {
	if strings.ContainsFunc(value, unicode.IsControl) || strings.TrimSpace(value) != value {
		return model.Invalidf("args: require a value without line breaks, and without blanks at its ends, after %s, found %q", name, value)
	}
	if name != "--image-url" {
		return nil
	}
	if u, err := url.Parse(value); err != nil || u.Scheme != "https" || u.Host == "" {
		return model.Invalidf("args: require an address that begins with https:// after %s, found %q", name, value)
	}
	return nil
}

// V2GetHostIgnition reads the config a host is installed with, as a string.
func (s *server) V2GetHostIgnition(w http.ResponseWriter, r *http.Request, infraEnvID, hostID uuid.UUID) error {
	key, _, missing, err := s.hostIgnition(r.Context(), infraEnvID, hostID)
	if err != nil {
		return err
	}
	config, err := s.Blob.Get(r.Context(), key)
	if errors.Is(err, model.ErrNotFound) {
		err = missing
	}
	text := string(config)
	if err != nil {
		return err
	}
	return ok(w, wire.HostIgnitionParams{Config: &text})
}

// V2UpdateHostIgnition sets a config that is laid over the host's own at its installation.
func (s *server) V2UpdateHostIgnition(w http.ResponseWriter, r *http.Request, infraEnvID, hostID uuid.UUID) error {
	var params wire.HostIgnitionParams
	if err := admission.Read(r, &params); err != nil {
		return err
	}
	if err := ignition.CheckOverride(deref(params.Config)); err != nil {
		return err
	}
	withoutBody := func(w http.ResponseWriter, _ any) error { return created(w, nil) }
	return s.changeHost(withoutBody, w, r, infraEnvID, hostID, func(h *model.Host, tx *store.Tx) error {
		h.IgnitionConfigOverrides = deref(params.Config)
		record(r, tx, events.HostDiscoveryIgnitionConfigApplied, lifecycle.AboutHost(h), nil)
		return nil
	})
}

// V2DownloadHostIgnition gives an installer the config it writes to its disk.
func (s *server) V2DownloadHostIgnition(w http.ResponseWriter, r *http.Request, infraEnvID, hostID uuid.UUID) error {
	h, err := s.Store.Host(r.Context(), infraEnvID, hostID)
	if err != nil {
		return err
	}
	if err := checkConfigInTime(admission.CallerOf(r), h); err != nil {
		return err
	}
	key, name, missing, err := ignitionOf(h)
	if err != nil {
		return err
	}
	return s.downloadBlob(w, r, key, name, missing)
}

// hostIgnition finds the config of a host; missing is the error while there is none.
func (s *server) hostIgnition(ctx context.Context, infraEnvID, hostID uuid.UUID) (key, name string, missing, err error) {
	h, err := s.Store.Host(ctx, infraEnvID, hostID)
	if err != nil {
		return "", "", nil, err
	}
	return ignitionOf(h)
}

func ignitionOf(h *model.Host) (key, name string, missing, err error) {
	if h.ClusterID == nil {
		return "", "", nil, model.Conflictf(
			"host %s has no Ignition config: require a host of a cluster, found status %s",
			answers.HostName(h),
			h.Status,
		)
	}
	missing = model.Conflictf(
		"host %s has no Ignition config yet: require an installation that was prepared, found status %s",
		answers.HostName(h),
		h.Status,
	)
	if !lifecycle.WithIgnition.Has(h.Status) {
		return "", "", nil, missing
	}
	name = ignition.HostFileName(h.EffectiveRole(), h.ID)
	return blob.ClusterFile(*h.ClusterID, name), name, missing, nil
}
