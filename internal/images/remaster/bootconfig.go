package remaster

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"slipway/internal/model"
)

// Lines of boot loaders' files: grub(7) and the syslinux wiki, "Config".
var (
	grubKernel     = regexp.MustCompile(`(?m)^[ \t]*linux(?:efi|16)?[ \t]+\S+`)
	grubInitrd     = regexp.MustCompile(`(?m)^[ \t]*initrd(?:efi|16)?[ \t]+\S[^\r\n]*`)
	isolinuxAppend = regexp.MustCompile(`(?mi)^[ \t]*append\b`)
	isolinuxInitrd = regexp.MustCompile(`(?mi)^(?:[ \t]*append[ \t](?:[^\r\n]*[ \t])?initrd=|[ \t]*initrd[ \t]+)\S+`)
	ofLiveISO      = regexp.MustCompile(regexp.QuoteMeta(liveISO) + `\S*[ \t]*`)
)

// rootfsURL limits an address to characters that are not special for either boot loader, in the quotes that
// GRUB requires around & and ;.
var rootfsURL = regexp.MustCompile(`^https?://[A-Za-z0-9\-._~:/?#@!&'()*+,;=%\[\]]+$`)

// configEdit makes a boot loader's file start an image that fetches its root file system.
type configEdit struct {
	rootfsURL string
	ramdisks  []string // further files of the initramfs, in order
}

// config edits a file, and returns the new offsets of its areas for kernel arguments. The
// areas keep their length, and gain the space of the removed argument.
//
// The address is inserted before the areas and not into them: GRUB needs quotes around it,
// which isolinux would pass to the kernel, and coreos-installer requires areas of the same
// content in all files.
func (e configEdit) config(path string, content []byte, areas []kargsArea) ([]byte, []int64, error) {
	order := make([]int, len(areas))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return int(areas[a].offset - areas[b].offset) })
	var out strings.Builder
	var found lines
	offsets := make([]int64, len(areas))
	at := int64(0)
	for _, i := range order {
		a := areas[i]
		if a.offset < at {
			return nil, nil, fmt.Errorf(
				"edit %s: the area for kernel arguments at %d overlaps another one",
				path,
				a.offset,
			)
		}
		out.WriteString(e.text(path, string(content[at:a.offset]), &found))
		offsets[i] = int64(out.Len())
		room, err := a.content(withoutLiveISO(a.args))
		if err != nil {
			return nil, nil, err
		}
		out.Write(room)
		at = a.offset + a.length
	}
	out.WriteString(e.text(path, string(content[at:]), &found))
	if !found.kernel || !found.initrd {
		return nil, nil, errNoLines
	}
	return []byte(out.String()), offsets, nil
}

// errNoLines: a file that starts no kernel, such as one that only includes another file.
var errNoLines = model.Invalidf("a line for a kernel and one for its initramfs are required")

// lines reports which ones a file has.
type lines struct{ kernel, initrd bool }

// text edits the parts that are not areas for kernel arguments.
func (e configEdit) text(path, text string, found *lines) string {
	kernel, initrd, url, separator := grubKernel, grubInitrd, `"`+e.rootfsURL+`"`, " "
	if !isGrub(path) {
		kernel, initrd, url, separator = isolinuxAppend, isolinuxInitrd, e.rootfsURL, ","
	}
	found.kernel = found.kernel || kernel.MatchString(text)
	found.initrd = found.initrd || initrd.MatchString(text)
	text = withoutLiveISO(text)
	text = kernel.ReplaceAllStringFunc(text, func(line string) string { return line + " coreos.live.rootfs_url=" + url })
	return initrd.ReplaceAllStringFunc(text, func(line string) string {
		line = strings.TrimRight(line, " \t")
		for _, r := range e.ramdisks {
			if !strings.Contains(line, r) {
				line += separator + "/" + r
			}
		}
		return line
	})
}

func withoutLiveISO(text string) string { return ofLiveISO.ReplaceAllString(text, "") }

// movedInfo returns kargs.json of an image whose areas have moved: offsets by the order of its files. Its
// other fields stay.
func movedInfo(info []byte, offsets []int64) ([]byte, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(info, &all); err != nil {
		return nil, fmt.Errorf("read %s: %w", kargsInfoPath, err)
	}
	var files []map[string]json.RawMessage
	var arguments string
	if err := json.Unmarshal(all["files"], &files); err != nil {
		return nil, fmt.Errorf("read the files of %s: %w", kargsInfoPath, err)
	}
	if all["default"] != nil {
		if err := json.Unmarshal(all["default"], &arguments); err != nil {
			return nil, fmt.Errorf("read the arguments of %s: %w", kargsInfoPath, err)
		}
	}
	for i, f := range files {
		f["offset"] = fmt.Append(nil, offsets[i])
	}
	var err error
	if all["files"], err = json.Marshal(files); err != nil {
		return nil, fmt.Errorf("write %s: %w", kargsInfoPath, err)
	}
	if all["default"], err = json.Marshal(strings.TrimSpace(withoutLiveISO(arguments))); err != nil {
		return nil, fmt.Errorf("write %s: %w", kargsInfoPath, err)
	}
	out, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", kargsInfoPath, err)
	}
	return append(out, '\n'), nil
}
