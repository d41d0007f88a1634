package remaster

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"slipway/internal/model"
)

const (
	kargsInfoPath = "coreos/kargs.json"
	maxKargsFiles = 64
)

// configPaths are the files of boot loaders, where an image does not list them.
var configPaths = []string{
	"EFI/redhat/grub.cfg", "EFI/fedora/grub.cfg", "EFI/centos/grub.cfg", "boot/grub/grub.cfg", "isolinux/isolinux.cfg",
}

// marker ends the room for kernel arguments: a newline and signs that make a comment.
var marker = regexp.MustCompile(`(\n#*)# COREOS_KARG_EMBED_AREA`)

// errNoAreas: an image without any area for kernel arguments.
var errNoAreas = errors.New("the files of its boot loaders have no areas for them")

// kargsInfo is an image's description of its areas for kernel arguments, in the form coreos-installer reads.
type kargsInfo struct {
	Default string `json:"default"`
	Size    int64  `json:"size"`
	Files   []struct {
		Path   string  `json:"path"`
		Offset int64   `json:"offset"`
		Pad    *string `json:"pad"`
		End    *string `json:"end"`
	} `json:"files"`
}

// kernelArguments are the areas for kernel arguments. Images without areas, or with broken ones, work for users
// who do not change arguments.
type kernelArguments struct {
	info  []byte // kargs.json, when the areas are those it lists, in its order
	areas []kargsArea
	err   error // why no areas were found
}

// kargsArea is one area: args, end, and pad up to its length.
type kargsArea struct {
	area
	args       string
	end        string
	pad        string
	appendOnly bool // only the room before the marker is known, not what is in front of it
}

// kernelArguments finds the areas: the image lists them, or else they have markers.
func (b *Base) kernelArguments(image io.ReaderAt) kernelArguments {
	text, err := b.text(image, kargsInfoPath)
	if err != nil {
		return kernelArguments{err: err}
	}
	var info kargsInfo
	if text == nil {
		return b.markers(image, nil)
	}
	if err := json.Unmarshal(text, &info); err != nil {
		return b.markers(image, nil)
	}
	if len(info.Files) > maxKargsFiles {
		return kernelArguments{err: fmt.Errorf("require at most %d files in %s, found %d", maxKargsFiles, kargsInfoPath, len(info.Files))}
	}
	found := kernelArguments{info: text}
	var paths []string
	for i, f := range info.Files {
		paths = append(paths, strings.Trim(f.Path, "/"))
		if a, ok := b.listedArea(image, info, i); ok {
			found.areas = append(found.areas, a)
		}
	}
	if len(paths) == 0 || len(found.areas) < len(paths) {
		return b.markers(image, paths)
	}
	return found
}

// listedArea reads one of the areas that kargs.json lists. Content without the form of an area is not one: its
// offset must be wrong.
func (b *Base) listedArea(image io.ReaderAt, info kargsInfo, i int) (kargsArea, bool) {
	f := info.Files[i]
	file, ok := b.first(f.Path)
	if !ok {
		return kargsArea{}, false
	}
	a := kargsArea{area: area{file.Path, f.Offset, info.Size}, end: "\n", pad: "#"}
	if f.End != nil {
		a.end = *f.End
	}
	if f.Pad != nil {
		a.pad = *f.Pad
	}
	config, err := b.text(image, a.path)
	if err != nil || !a.within(file) || len(a.pad) != 1 {
		return kargsArea{}, false
	}
	content := strings.TrimRight(string(config[a.offset:a.offset+a.length]), a.pad)
	args, ended := strings.CutSuffix(content, a.end)
	if (!ended && strings.Trim(a.end, a.pad) != "") || strings.ContainsFunc(args, isControl) {
		return kargsArea{}, false
	}
	a.args = strings.TrimSpace(args)
	return a, true
}

func isControl(r rune) bool { return r < ' ' && r != '\t' }

// markers finds areas by their marker: in all of the listed files, or in the usual files that have
// one.
func (b *Base) markers(image io.ReaderAt, listed []string) kernelArguments {
	paths := listed
	if len(paths) == 0 {
		paths = configPaths
	}
	found := kernelArguments{err: errNoAreas}
	for _, p := range paths {
		config, err := b.text(image, p)
		if err != nil {
			return kernelArguments{err: err}
		}
		file, _ := b.first(p)
		at := marker.FindSubmatchIndex(config)
		if at != nil && len(file.Extents) == 1 {
			room := area{file.Path, int64(at[2]), int64(at[3] - at[2])}
			found.areas = append(found.areas, kargsArea{area: room, end: "\n", pad: "#", appendOnly: true})
			found.err = nil
		} else if len(listed) > 0 {
			return kernelArguments{err: fmt.Errorf("%s has no area for them", p)}
		}
	}
	return found
}

// embedArguments changes the kernel arguments in every file.
func (b *Base) embedArguments(changes []model.KernelArgument) ([]edit, error) {
	switch {
	case len(changes) == 0:
		return nil, nil
	case b.IsS390X():
		return nil, model.Invalidf(
			"kernel arguments cannot be changed in an image for s390x, which has no boot loader to read them: require none, found %d",
			len(changes),
		)
	case b.kargs.err != nil:
		return nil, model.Conflictf(
			"kernel arguments cannot be changed in image %s: %v",
			b.Label(),
			b.kargs.err,
		)
	}
	var edits []edit
	for _, a := range b.kargs.areas {
		content, err := a.changed(changes)
		if err != nil {
			return nil, err
		}
		edits = append(edits, b.fill(a.area, content))
	}
	return edits, nil
}

// changed returns the whole area with other arguments.
func (a kargsArea) changed(changes []model.KernelArgument) ([]byte, error) {
	for _, c := range changes {
		if strings.ContainsFunc(c.Value, isControl) {
			return nil, model.Invalidf(
				"kernel argument %q cannot be written to the files of boot loaders: require no line breaks or other control characters",
				c.Value,
			)
		}
		if a.appendOnly && c.Operation != "append" {
			return nil, model.Conflictf(
				"kernel argument %q cannot be changed: the image does not list the place of its own arguments; require only arguments "+
					"to append, found operation %q",
				c.Value,
				c.Operation,
			)
		}
	}
	own := splitArguments(a.args)
	args := ChangedArguments(own, changes)
	for i, arg := range args {
		if isGrub(a.path) && !slices.Contains(own, arg) {
			args[i] = quoteForGrub(arg)
		}
	}
	text := strings.Join(args, " ")
	if a.appendOnly {
		text = " " + text
	}
	return a.content(text)
}

// content returns the whole area with a text.
func (a kargsArea) content(text string) ([]byte, error) {
	text += a.end
	if int64(len(text)) > a.length {
		return nil, model.Conflictf(
			"kernel arguments do not fit into the image: require at most %d bytes in %s, found %d; append fewer or shorter ones",
			a.length,
			a.path,
			len(text),
		)
	}
	return append([]byte(text), bytes.Repeat([]byte(a.pad), int(a.length)-len(text))...), nil
}

// isGrub distinguishes the two boot loaders; they differ in quotes and lists.
func isGrub(file string) bool { return path.Base(file) != "isolinux.cfg" }
