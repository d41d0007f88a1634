package images

import (
	"context"
	"errors"
	"fmt"

	humanize "github.com/dustin/go-humanize"

	"slipway/internal/app/process"
	"slipway/internal/app/settings"
	usercli "slipway/internal/cli"
	"slipway/internal/images/liveisos"
	"slipway/internal/model"
)

// folderOptions are the flags of commands that work on the folder itself, beside a
// service that runs or without one.
type folderOptions struct {
	settings.ImageFolder
	DataDir string `default:"/var/lib/slipway" env:"SLIPWAY_DATA_DIR" type:"path" help:"Data folder of the service."`
}

func (o folderOptions) open(p *process.Process) (*liveisos.Store, error) {
	return liveisos.Open(liveisos.Options{Folder: o.Path(o.DataDir), Log: p.Log, Now: p.Now})
}

// imageKeyFlags say which image is meant.
type imageKeyFlags struct {
	OpenShiftVersion string `name:"openshift-version" required:"" help:"Version that hosts install, 4.22 or a whole one." placeholder:"VERSION"`
	Type             string `default:"" enum:",disconnected-iso" help:"disconnected-iso for an image that brings all an installation needs." placeholder:"TYPE"`
}

// addCommand takes an ISO into the folder, for sites that cannot download one.
type addCommand struct {
	folderOptions
	imageKeyFlags
	File            string `arg:"" type:"existingfile" help:"Live ISO of CoreOS."`
	CPUArchitecture string `name:"cpu-architecture" default:"" enum:",x86_64,arm64,aarch64,ppc64le,s390x" help:"Architecture of the hosts; by default the architecture of the kernel in the ISO, else x86_64." placeholder:"ARCH"`
	OSVersion       string `name:"version" help:"Version of the operating system; by default the version in the ISO's label." placeholder:"VERSION"`
	SHA256          string `name:"sha256" help:"Digest that the file has to have." placeholder:"HEX"`
	Link            bool   `help:"Give the file a second name in the folder instead of copying it; both have to be on one file system."`
}

// Run adds the image. A service on the same folder uses it from then on.
func (c *addCommand) Run(ctx context.Context, p *process.Process, t *usercli.Terminal) error {
	store, err := c.open(p)
	if err != nil {
		return err
	}
	progress := &copyProgress{terminal: t, doing: "copying"}
	if c.Link {
		progress.doing = "reading"
	}
	added, err := store.Add(ctx, liveisos.Addition{
		File: c.File, OpenShiftVersion: c.OpenShiftVersion, CPUArchitecture: c.CPUArchitecture, Type: c.Type,
		Version: c.OSVersion, SHA256: c.SHA256, Link: c.Link, OnProgress: progress.tell,
	})
	progress.end()
	if err != nil {
		return fmt.Errorf("add operating system image: %w", err)
	}
	fmt.Fprintf(t.Out, "operating system image of OpenShift %s added: version %s, %s\nsha256 %s\n%s\n",
		added.Key(), added.Version, humanize.IBytes(uint64(added.Size)), added.SHA256, added.Path) //nolint:gosec // a size
	return nil
}

// copyProgress prints how far a copy is: in place on a terminal, elsewhere every tenth.
type copyProgress struct {
	terminal *usercli.Terminal
	doing    string
	percent  int64
	open     bool // the line has no end yet
}

func (c *copyProgress) tell(done, size int64) {
	percent := done * 100 / max(size, 1)
	step := int64(10)
	if c.terminal.Interactive {
		step = 1
	}
	if percent < c.percent+step {
		return
	}
	c.percent = percent - percent%step
	if c.terminal.Interactive {
		c.open = true
		fmt.Fprintf(c.terminal.Err, "\r%s: %d %%", c.doing, c.percent)
		return
	}
	fmt.Fprintf(c.terminal.Err, "%s: %d %%\n", c.doing, c.percent)
}

func (c *copyProgress) end() {
	if c.open {
		fmt.Fprintln(c.terminal.Err)
	}
}

// removeCommand takes images out of the folder.
type removeCommand struct {
	folderOptions
	imageKeyFlags
	CPUArchitecture string `name:"cpu-architecture" default:"x86_64" enum:"x86_64,arm64,aarch64,ppc64le,s390x" help:"Architecture of the hosts." placeholder:"ARCH"`
}

// Run removes what was added or downloaded. A service downloads again what it lists.
func (c *removeCommand) Run(_ context.Context, p *process.Process, t *usercli.Terminal) error {
	store, err := c.open(p)
	if err != nil {
		return err
	}
	removed, err := store.Remove(c.OpenShiftVersion, c.CPUArchitecture, c.Type)
	for _, path := range removed {
		fmt.Fprintf(t.Out, "removed %s\n", path)
	}
	if errors.Is(err, model.ErrNotFound) {
		return &usercli.Failure{Err: err, Code: exitNotFound}
	}
	return err
}

// exitNotFound is the exit code for what does not exist, as of the commands of users.
const exitNotFound = 3
