package images

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	humanize "github.com/dustin/go-humanize"

	"slipway/internal/app/process"
	"slipway/internal/app/versions"
	usercli "slipway/internal/cli"
	"slipway/internal/cli/view"
	"slipway/internal/images/liveisos"
)

// listCommand shows the images of the folder and of the settings.
type listCommand struct {
	folderOptions
	OSImages string `name:"os-images" env:"OS_IMAGES" help:"Images of the settings of the service, a JSON list; by default the images of slipway versions update, or the shipped ones." placeholder:"JSON"`
	Output   string `short:"o" default:"table" enum:"table,json" help:"How to print: table or json."`
}

// listedImage is the JSON of one image.
type listedImage struct {
	OpenShiftVersion string         `json:"openshift_version"`
	CPUArchitecture  string         `json:"cpu_architecture"`
	Type             string         `json:"type,omitempty"`
	Version          string         `json:"version"`
	State            liveisos.State `json:"state"`
	Added            bool           `json:"added"`
	Done             int64          `json:"bytes"`
	Size             int64          `json:"size"`
	File             string         `json:"file"`
	SHA256           string         `json:"sha256,omitempty"`
	Required         string         `json:"required_sha256,omitempty"`
	Error            string         `json:"error,omitempty"`
}

// Run prints the images, newest first.
func (c *listCommand) Run(_ context.Context, p *process.Process, t *usercli.Terminal) error {
	known, err := versions.Read(versions.Lists{OSImages: c.OSImages}, c.DataDir)
	if err != nil {
		return err
	}
	store, err := liveisos.Open(liveisos.Options{
		Folder: c.Path(c.DataDir), Images: known.OSImages, OnDemand: known.OnDemand, Log: p.Log, Now: p.Now,
	})
	if err != nil {
		return err
	}
	list := []listedImage{}
	for _, s := range store.Status() {
		row := listedImage{
			s.OpenShiftVersion, s.CPUArchitecture, s.Type, s.Version, s.State, s.Added, s.Done, s.Size, s.File, s.Digest, "", "",
		}
		if !s.Added {
			row.Required = s.SHA256
		}
		if s.Err != nil {
			row.Error = s.Err.Error()
		}
		list = append(list, row)
	}
	if c.Output == "json" {
		encoder := json.NewEncoder(t.Out)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(list); err != nil {
			return fmt.Errorf("write the answer: %w", err)
		}
		return nil
	}
	table := view.Table{Header: []string{"VERSION", "ARCH", "TYPE", "SYSTEM", "STATE", "SIZE", "FROM", "SHA256", "FILE", ""}}
	for _, row := range list {
		from := "settings"
		if row.Added {
			from = "added"
		}
		table.Add(row.OpenShiftVersion, row.CPUArchitecture, cmp.Or(row.Type, "live"), row.Version, row.state(), row.size(),
			from, row.digest(), row.File, row.Error)
	}
	fmt.Fprint(t.Out, table.String())
	return nil
}

func (i *listedImage) state() string {
	if i.State == liveisos.StateReady || i.Size == 0 {
		return string(i.State)
	}
	return fmt.Sprintf("%s, %d %%", i.State, i.Done*100/i.Size)
}

// digest returns the beginning of the digest, and whether the settings require it.
func (i *listedImage) digest() string {
	switch {
	case i.SHA256 == "":
		return ""
	case i.Required == "" && !i.Added:
		return i.SHA256[:12] + ", any"
	}
	return i.SHA256[:12]
}

func (i *listedImage) size() string {
	if i.Size == 0 {
		return ""
	}
	return humanize.IBytes(uint64(i.Size)) //nolint:gosec // a size
}
