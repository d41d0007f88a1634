package installer_test

import (
	"context"
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/hostexec"
)

// code is boot code of an image.
const code = "\xeb\x63\x90 of the image"

// protective makes the boot sector of a GPT disk, with some boot code.
func protective(code string) string {
	sector := make([]byte, 512)
	copy(sector, code)
	sector[450], sector[510], sector[511] = 0xee, 0x55, 0xaa
	return string(sector)
}

func TestADiskHalfWrittenPassesTheBootOn(t *testing.T) {
	t.Parallel()
	if runtime.GOARCH != "amd64" {
		t.Skip("SKIP: no BIOS starts hosts of this architecture")
	}
	const passedOn = "\xcd\x18\xf4\xeb\xfd"
	for name, c := range map[string]struct {
		uefi         bool
		before, line string // what is on the disk when a line is printed
		half, whole  string // what it begins with then, and at the end
		fails        string
	}{
		"by a BIOS":                 {false, protective(""), "> Read disk 1 MiB/9 GiB (0%)\r", passedOn, protective(code), ""},
		"by UEFI it is not started": {true, protective(""), "> Read disk 1 MiB/9 GiB (0%)\r", "\x00\x00", protective(code), ""},
		"an old system is to be overwritten": {
			false, protective("\xeb\x63\x90"), "> Read disk 1 MiB/9 GiB (0%)\r", "\xeb\x63\x90", protective(code), "",
		},
		"a disk without a table": {
			false, string(make([]byte, 512)), "> Read disk 1 MiB/9 GiB (0%)\r", "\x00\x00", protective(code), "",
		},
		"the image's code comes soon": {false, protective(""), "> Read disk 5 GiB/9 GiB (60%)\r", "\x00\x00", protective(code), ""},
		"the image's code did not come": {
			false, protective(""), "> Read disk 1 MiB/9 GiB (0%)\r", passedOn, "", "the first sector has the boot code of a half-written disk",
		},
		"a disk that cannot be read": {false, "", "> Read disk 1 MiB/9 GiB (0%)\r", "", protective(code), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, h := newService(t), newHost(t, nil)
			disk := h.root.Path("/dev/sda")
			if c.uefi {
				require.NoError(t, os.MkdirAll(h.root.Path("/sys/firmware/efi"), 0o755))
			}
			h.On("coreos-installer install", func(_ context.Context, cmd hostexec.Cmd) (hostexec.Result, error) {
				require.NoError(t, os.WriteFile(disk, []byte(c.before), 0o600))
				cmd.Output([]byte(c.line))
				half := h.read(t, "/dev/sda")
				require.Len(t, half, len(c.before))
				require.Equal(t, c.half, half[:len(c.half)])
				if half != "" {
					require.Equal(t, c.before[len(passedOn):], half[len(passedOn):])
				}
				if c.whole != "" {
					require.NoError(t, os.WriteFile(disk, []byte(c.whole), 0o600))
				}
				cmd.Output([]byte("> Read disk 9 GiB/9 GiB (100%)\n"))
				return hostexec.Result{}, nil
			})
			_, err := newInstaller(s, h, nil).WriteImage(t.Context(), request("master", 3))
			if c.fails != "" {
				require.ErrorContains(t, err, c.fails)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.whole, h.read(t, "/dev/sda"))
		})
	}
}
