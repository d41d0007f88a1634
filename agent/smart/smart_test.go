package smart_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/agent/smart"
	"slipway/internal/platform/hostexec"
)

// disk answers commands: by the beginning of a command, in hexadecimal, with data or, after
// a colon, sense data. Others end as a command that a driver does not pass.
type disk map[string]string

func (d disk) SCSI(command, into []byte) ([]byte, error) {
	answer, known := d[hex.EncodeToString(command)]
	if !known {
		return nil, syscall.EIO
	}
	data, sense, _ := strings.Cut(strings.ReplaceAll(answer, " ", ""), ":")
	copy(into, unhex(data))
	return unhex(sense), nil
}

func (d disk) NVMeLog(page uint8, into []byte) error {
	answer, known := d["log "+hex.EncodeToString([]byte{page})]
	if !known {
		return errors.Join(smart.ErrNoVerdict, syscall.EINVAL)
	}
	copy(into, unhex(answer))
	return nil
}

func (disk) Close() error { return nil }

func unhex(text string) []byte {
	content, err := hex.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return content
}

// The commands, as SAT-3 and SPC-4 write them.
const (
	inquiry   = "120000002400"
	power     = "850620000000000000000000" + "0000e500"
	status    = "85062000da00000000004f00" + "c200b000"
	exception = "4d006f00000000004000"
)

// Answers to INQUIRY: type, version and so on, then vendor and product.
var (
	isATA  = "00 00 05 02 5b 00 00 00" + hex.EncodeToString([]byte("ATA     ST4000NM0035"))
	isSCSI = "00 00 06 12 8b 00 10 02" + hex.EncodeToString([]byte("SEAGATE ST600MM0099 "))
)

// returned returns sense data with the descriptor ATA Status Return.
func returned(count, lbaMiddle, lbaHigh, status string) string {
	return ":72 01 00 1d 00 00 00 0e 09 0c 00 00 00" + count + "00 00 00" + lbaMiddle + "00" + lbaHigh + "00" + status
}

func TestVerdictIsTheDisksOwn(t *testing.T) {
	t.Parallel()
	const awake, fine = "ff", "50"
	ata := func(powerMode, middle, high, state string) disk {
		return disk{inquiry: isATA, power: returned(powerMode, "00", "00", fine), status: returned("00", middle, high, state)}
	}
	scsi := func(page string) disk { return disk{inquiry: isSCSI, exception: page} }
	for name, c := range map[string]struct {
		path string
		disk disk
		want string // JSON; empty: no verdict
	}{
		"ATA, no threshold exceeded": {"/dev/sda", ata(awake, "4f", "c2", fine), `{"passed":true}`},
		"ATA, a threshold exceeded":  {"/dev/sda", ata(awake, "f4", "2c", fine), `{"passed":false}`},
		"ATA that sleeps":            {"/dev/sda", ata("00", "4f", "c2", fine), ""},
		"ATA without SMART":          {"/dev/sda", ata(awake, "4f", "c2", "51"), ""},
		"ATA with another signature": {"/dev/sda", ata(awake, "00", "00", fine), ""},
		"ATA behind a deaf bridge":   {"/dev/sda", disk{inquiry: isATA, power: ":70 00 05 00 00 00 00 0a 00 00 00 00 20 00", status: ""}, ""},
		"ATA in the fixed format": {"/dev/sda", disk{
			inquiry: isATA, power: returned(awake, "00", "00", fine), status: ":70 00 01 00 50 00 00 0a 00 00 f4 2c 00 1d 00 00",
		}, `{"passed":false}`},
		"ATA after another descriptor": {"/dev/sda", disk{
			inquiry: isATA, power: returned(awake, "00", "00", fine),
			status: ":72 01 00 1d 00 00 00 1a" + "00 0a 00 00 00 00 00 00 00 00 00 00" + "09 0c 00 00 00 00 00 00 00 4f 00 c2 00 50",
		}, `{"passed":true}`},
		"SCSI without an exception":  {"/dev/sdb", scsi("2f 00 00 08 00 00 03 04 00 00 1e 00"), `{"passed":true}`},
		"SCSI that predicts its end": {"/dev/sdb", scsi("2f 00 00 08 00 00 03 04 5d 10 1e 00"), `{"passed":false}`},
		"SCSI that is too warm":      {"/dev/sdb", scsi("2f 00 00 08 00 00 03 04 0b 01 46 00"), `{"passed":false}`},
		"SCSI without the page":      {"/dev/sdb", scsi(":70 00 05 00 00 00 00 0a 00 00 00 00 24 00"), ""},
		"SCSI with another page":     {"/dev/sdb", scsi("00 00 00 08 00 00 03 04 5d 10 1e 00"), ""},
		"SCSI with an empty page":    {"/dev/sdb", scsi("2f 00 00 00"), ""},
		"a disk that is gone":        {"/dev/sdc", disk{}, ""},
		"NVMe without a warning":     {"/dev/nvme0n1", disk{"log 02": "00 36 01"}, `{"passed":true,"nvme":{"value":0}}`},
		"NVMe that is worn out":      {"/dev/nvme0n1", disk{"log 02": "04 36 01"}, `{"passed":false,"nvme":{"value":4}}`},
		"NVMe without the log":       {"/dev/nvme0n1", disk{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for key, answer := range c.disk {
				c.disk[key] = strings.ReplaceAll(answer, " ", "")
			}
			disks := smart.Disks{Open: func(string) (smart.Device, error) { return c.disk, nil }}
			verdict, err := disks.Health(t.Context(), c.path)
			if c.want == "" {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			text, err := json.Marshal(verdict)
			require.NoError(t, err)
			require.JSONEq(t, c.want, string(text))
		})
	}
}

// A command that is not one of these would wake a disk or change it.
func TestASleepingDiskIsAskedForNothingElse(t *testing.T) {
	t.Parallel()
	asked := &recorder{disk: disk{inquiry: isATA, power: returned("00", "00", "00", "50")}}
	disks := smart.Disks{Open: func(string) (smart.Device, error) { return asked, nil }}
	_, err := disks.Health(t.Context(), "/dev/sda")
	require.ErrorIs(t, err, smart.ErrNoVerdict)
	require.True(t, slices.Equal([]string{inquiry, power}, asked.commands), asked.commands)
}

// recorder keeps the commands that a disk gets.
type recorder struct {
	disk
	commands []string
}

func (r *recorder) SCSI(command, into []byte) ([]byte, error) {
	r.commands = append(r.commands, hex.EncodeToString(command))
	return r.disk.SCSI(command, into)
}

func TestAFileIsNoDisk(t *testing.T) {
	t.Parallel()
	root := hostexec.Root(t.TempDir())
	_, err := smart.Disks{Root: root}.Health(t.Context(), "/dev/sda")
	require.ErrorIs(t, err, syscall.ENOENT)
	_, err = smart.Disks{}.Health(t.Context(), "/dev/null")
	require.ErrorIs(t, err, syscall.ENOTTY)
}
