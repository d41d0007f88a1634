package versions

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/google/renameio/v2"

	"slipway/internal/app/process"
	"slipway/internal/app/settings"
	usercli "slipway/internal/cli"
	"slipway/internal/cluster/openshift"
	"slipway/internal/images/updateservice"
)

// Commands are about the versions of OpenShift; without a name it is the list.
type Commands struct {
	List   usercli.VersionsCommand `cmd:"" default:"withargs" help:"List the available OpenShift versions."`
	Update updateCommand           `cmd:"" help:"Look for current releases and live images, and offer them from the next start of the service."`
}

// updateCommand replaces the releases and live images of a deployment that sets none.
type updateCommand struct {
	DataDir        string `default:"/var/lib/slipway" env:"SLIPWAY_DATA_DIR" type:"path" help:"Data folder of the service."`
	From           string `help:"Take a file that --file has written, or its address, instead of asking." placeholder:"FILE|URL"`
	Output         string `short:"o" hidden:""`
	File           string `short:"f" type:"path" help:"Write to this file instead of the data folder; - is standard output." placeholder:"FILE"`
	ReleaseSources string `env:"RELEASE_SOURCES" help:"Channels to read, a JSON list; by default the shipped ones." placeholder:"JSON"`
	UpdateService  string `default:"https://api.openshift.com" env:"OCM_BASE_URL" help:"Address of the update service."`
	LifeCycles     string `default:"https://access.redhat.com/product-life-cycles/api/v1/products" env:"RED_HAT_PRODUCT_LIFE_CYCLE_DATA_API_BASE_URL" help:"Address of the product life cycles."`
	Mirror         string `name:"image-mirror" default:"https://mirror.openshift.com/pub/openshift-v4" env:"SLIPWAY_IMAGE_MIRROR" help:"Address that live images are looked for at."`
}

// maxFile bounds a file of versions that is downloaded.
const maxFile = 8 << 20

// Run writes what was found; a failed look changes nothing.
func (c *updateCommand) Run(ctx context.Context, p *process.Process) error {
	if c.Output != "" {
		return fmt.Errorf("-o is an output format, and versions have none: name the file with -f, found -o %s", c.Output)
	}
	text, err := c.find(ctx, p)
	if err != nil {
		return err
	}
	_, releases, images, err := openshift.ParseVersions(text)
	if err != nil {
		return err
	}
	if c.File == "-" {
		_, err := p.Stdout.Write(text)
		return err
	}
	file, hint := c.File, "; carry it to the service: slipway versions update --from FILE"
	if file == "" {
		file, hint = File(c.DataDir), "; a running service offers them after a restart"
		if err := os.MkdirAll(c.DataDir, 0o711); err != nil {
			return fmt.Errorf("create data folder: %w", err)
		}
	}
	if err := renameio.WriteFile(file, text, 0o644); err != nil {
		return fmt.Errorf("write versions: %w", err)
	}
	fmt.Fprintf(p.Stdout, "%s: %d releases and %d live images%s\n", file, len(releases), len(images), hint)
	return nil
}

func (c *updateCommand) find(ctx context.Context, p *process.Process) ([]byte, error) {
	switch {
	case strings.HasPrefix(c.From, "http://"), strings.HasPrefix(c.From, "https://"):
		address, err := settings.WebAddress("--from", c.From)
		if err != nil {
			return nil, err
		}
		text, _, err := updateservice.Get(ctx, http.DefaultClient, address, maxFile)
		if err != nil {
			return nil, fmt.Errorf("get %s: %w", address.Redacted(), err)
		}
		return text, nil
	case c.From != "":
		text, err := os.ReadFile(c.From)
		if err != nil {
			return nil, fmt.Errorf("read versions: %w", err)
		}
		return text, nil
	}
	return c.ask(ctx, p)
}

// ask reads the update service and the mirror.
func (c *updateCommand) ask(ctx context.Context, p *process.Process) ([]byte, error) {
	syncer, err := c.syncer()
	if err != nil {
		return nil, err
	}
	releases, err := syncer.Fetch(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for releases: %w", err)
	}
	images, err := c.images(ctx, p, syncer.Sources)
	if err != nil {
		return nil, fmt.Errorf("look for live images: %w", err)
	}
	list, err := json.Marshal(releases.Latest().Items())
	if err != nil {
		return nil, fmt.Errorf("write releases: %w", err)
	}
	live, err := json.Marshal(images)
	if err != nil {
		return nil, fmt.Errorf("write live images: %w", err)
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(openshift.Versions{UpdatedAt: p.Now().UTC(), ReleaseImages: list, OSImages: live}); err != nil {
		return nil, fmt.Errorf("write versions: %w", err)
	}
	return out.Bytes(), nil
}

func (c *updateCommand) syncer() (*updateservice.Syncer, error) {
	s := &updateservice.Syncer{Sources: openshift.DefaultReleaseSources(), Client: http.DefaultClient}
	var err error
	if c.ReleaseSources != "" {
		if s.Sources, err = openshift.ParseReleaseSources([]byte(c.ReleaseSources)); err != nil {
			return nil, fmt.Errorf("read RELEASE_SOURCES: %w", err)
		}
	}
	if s.UpdateService, err = settings.WebAddress("OCM_BASE_URL", c.UpdateService); err != nil {
		return nil, err
	}
	s.LifeCycles, err = settings.WebAddress("RED_HAT_PRODUCT_LIFE_CYCLE_DATA_API_BASE_URL", c.LifeCycles)
	return s, err
}

// images looks for a live image of every version of the sources; one that the mirror does not have stays as it is
// shipped.
func (c *updateCommand) images(ctx context.Context, p *process.Process, sources []openshift.ReleaseSource) (openshift.OSImages, error) {
	base, err := settings.WebAddress("SLIPWAY_IMAGE_MIRROR", c.Mirror)
	if err != nil {
		return nil, err
	}
	mirror := &updateservice.Mirror{Base: base, Client: http.DefaultClient}
	shipped := openshift.DefaultOSImages()
	var out openshift.OSImages
	for _, s := range sources {
		for _, architecture := range []string{"x86_64", "arm64", "ppc64le", "s390x"} {
			image, err := mirror.Image(ctx, s.OpenShiftVersion, architecture)
			if errors.Is(err, updateservice.ErrNoImage) {
				p.Log.Warn("the shipped live image stays", "why", err)
				old, found, _ := shipped.Lookup(s.OpenShiftVersion, architecture, "")
				if !found || old.OpenShiftVersion != s.OpenShiftVersion {
					continue
				}
				image = old
			} else if err != nil {
				return nil, err
			}
			out = append(out, image)
		}
	}
	out.Sort()
	return out, nil
}
