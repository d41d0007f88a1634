package sim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path"
	"slices"
	"time"

	"github.com/google/uuid"

	"slipway/internal/cluster/steps"
	"slipway/internal/model"
	"slipway/internal/platform/hostexec"
	"slipway/internal/wire"
)

const (
	// imageName and imageMiB are the CoreOS image that is written.
	imageName = "rhcos-9.6-sim-metal.x86_64"
	imageMiB  = 3686
	// imageSteps is how often progress is printed; failAt is where a write breaks off.
	imageSteps = 50
	failAt     = 20
)

// coreosInstaller writes the image and the Ignition to a disk. A disk whose writing was
// interrupted does not boot.
func (s shell) coreosInstaller(ctx context.Context, c hostexec.Cmd, out *reply) int {
	device := last(c.Args)
	disk, known := s.options.Spec.Disk(device)
	if !known {
		return out.complain(1, "Error: opening %s\n\nCaused by:\n    No such file or directory (os error 2)\n", device)
	}
	source := option(c.Args, "-i")
	if source == "" {
		source = option(c.Args, "--ignition-file")
	}
	ignition, err := os.ReadFile(s.options.root().Path(source))
	if err != nil {
		return out.complain(
			1,
			"Error: opening source Ignition config %s\n\nCaused by:\n    No such file or directory (os error 2)\n",
			source,
		)
	}
	sum := sha256.Sum256(ignition)
	content := &DiskContent{
		ID: uuid.NewString(), Image: imageName, Ignition: ignition, SHA256: hex.EncodeToString(sum[:]), Source: path.Base(source),
		At: s.options.Now().UTC(),
	}
	if fault := refuses(c.Args); fault != "" {
		return out.complain(1, "%s", fault)
	}
	s.note(Entry{Event: EventWriteStarted, Device: device, Ignition: content.SHA256})
	if err := wipeDisk(s.options.Root, disk.Name); err != nil {
		return out.complain(1, "Error: %s\n", err)
	}
	if code := s.copyImage(ctx, out); code != 0 || ctx.Err() != nil {
		return code
	}
	if err := writeDisk(s.options.Root, disk.Name, content); err != nil {
		return out.complain(1, "Error: %s\n", err)
	}
	s.note(Entry{Event: EventWriteFinished, Device: device, Ignition: content.SHA256})
	out.complain(0, "\nWriting Ignition config\nInstall complete.\n")
	return 0
}

// refuses returns the error of coreos-installer for an image without a signature, as the images here are: the live system's own needs
// none, and --insecure is for one that the arguments name (coreos/coreos-installer, src/source.rs and src/install.rs).
func refuses(args []string) string {
	if model.NamesImage(args) && !slices.Contains(args, model.Unsigned) {
		return "Error: --insecure not specified and signature not found\n"
	}
	return ""
}

// copyImage prints the progress of the write as it proceeds.
func (s shell) copyImage(ctx context.Context, out *reply) int {
	breaks := s.fails(string(steps.ImageWrite))
	duration := s.times.ImageWrite
	if s.options.Faults.SlowDisk {
		duration *= 3
	}
	out.complain(0, "Reading image from /run/media/iso\n")
	for step := 1; step <= imageSteps; step++ {
		s.spend(ctx, duration/imageSteps)
		if ctx.Err() != nil {
			return 1
		}
		if breaks && step == failAt {
			return out.complain(1, "\nError: copying image to target\n\nCaused by:\n    Input/output error (os error 5)\n")
		}
		done := float64(imageMiB) / 1024 * float64(step) / imageSteps
		out.complain(0, "> Read disk %.1f GiB/%.1f GiB (%d%%)   \r", done, float64(imageMiB)/1024, 100*step/imageSteps)
	}
	return 0
}

// podman knows images and nothing else: what runs in containers runs here as functions.
func (s shell) podman(ctx context.Context, c hostexec.Cmd, out *reply) int {
	if len(c.Args) == 0 {
		return out.complain(125, "Error: missing command\n")
	}
	state, _ := s.memory.get()
	image := last(c.Args)
	here := slices.Contains(state.Images, image)
	switch c.Args[0] {
	case "run":
		return s.podmanRun(ctx, c.Args[1:], out)
	case "images":
		if here {
			out.printf("%s\n", imageID(image)[:12])
		}
	case "pull":
		s.spend(ctx, s.times.ImagePull)
		if s.fails(string(wire.StepTypeContainerImageAvailability)) {
			return out.complain(125, "Error: initializing source docker://%s: reading manifest: manifest unknown\n", image)
		}
		if err := s.memory.update(func(st *State) { st.Images = append(slices.Clone(st.Images), image) }); err != nil {
			return out.complain(125, "Error: %s\n", err)
		}
		out.printf("%s\n", imageID(image))
	case "image":
		if !here {
			return out.complain(125, "Error: %s: image not known\n", image)
		}
		out.printf("433815552\n")
	}
	return 0
}

func imageID(image string) string {
	sum := sha256.Sum256([]byte(image))
	return hex.EncodeToString(sum[:])
}

// shutdown orders a reboot: -r now or -r +MINUTES.
func (s shell) shutdown(_ context.Context, c hostexec.Cmd, out *reply) int {
	delay := time.Duration(0)
	if last(c.Args) == "+1" {
		delay = time.Minute
	}
	at := s.options.Now().Add(s.clock.Real(delay))
	s.note(Entry{Event: EventRebootAsked, Detail: c.String()})
	if err := s.memory.update(func(st *State) { st.RebootAt = at }); err != nil {
		return out.complain(1, "%s\n", err)
	}
	out.printf("Reboot scheduled for %s, use 'shutdown -c' to cancel.\n", at.UTC().Format("Mon 2006-01-02 15:04:05 MST"))
	return 0
}
