package smart

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// inquire asks for the vendor of a disk (SPC-4, section 6.6.2).
func inquire(device Device) (vendor string, err error) {
	const inquiry, length, vendorFrom, vendorTo = 0x12, 36, 8, 16
	data := make([]byte, length)
	if _, err := device.SCSI([]byte{inquiry, 0, 0, 0, length, 0}, data); err != nil {
		return "", err
	}
	return strings.TrimSpace(string(data[vendorFrom:vendorTo])), nil
}

// scsiHealth reads the log page Informational Exceptions (SPC-4, section 7.3.12): its first
// parameter has the additional sense code of the last exception.
func scsiHealth(device Device) (Verdict, error) {
	const (
		logSense, cumulative, page = 0x4d, 1 << 6, 0x2f
		length, header, codeAt     = 64, 4, 8
		failurePredicted, warning  = 0x5d, 0x0b
	)
	data := make([]byte, length)
	sense, err := device.SCSI([]byte{logSense, 0, cumulative | page, 0, 0, 0, 0, 0, length, 0}, data)
	if err != nil {
		return Verdict{}, err
	}
	end := header + int(binary.BigEndian.Uint16(data[2:]))
	if len(sense) > 0 || data[0]&0x3f != page || end <= codeAt {
		return Verdict{}, ErrNoVerdict
	}
	code := data[codeAt]
	return Verdict{Passed: code != failurePredicted && code != warning}, nil
}

// What ATA commands leave in the registers (ACS-3, sections 7.3 and 7.53.5; 7.48).
const (
	ataCheckPowerMode = 0xe5
	ataSMART          = 0xb0
	ataReturnStatus   = 0xda
	standby           = 0x00
	signatureMiddle   = 0x4f
	signatureHigh     = 0xc2
	exceededMiddle    = 0xf4
	exceededHigh      = 0x2c
	statusError       = 1 << 0
)

// registers holds the registers of an ATA disk after a command.
type registers struct{ count, lbaMiddle, lbaHigh, status byte }

// ataHealth asks a disk that is awake whether a threshold is exceeded.
func ataHealth(device Device) (Verdict, error) {
	power, err := ata(device, 0, 0, 0, ataCheckPowerMode)
	if err != nil {
		return Verdict{}, err
	}
	if power.status&statusError == 0 && power.count == standby {
		return Verdict{}, fmt.Errorf("%w: it sleeps", ErrNoVerdict)
	}
	found, err := ata(device, ataReturnStatus, signatureMiddle, signatureHigh, ataSMART)
	switch {
	case err != nil:
		return Verdict{}, err
	case found.status&statusError != 0:
		return Verdict{}, ErrNoVerdict // SMART is absent or switched off
	case found.lbaMiddle == signatureMiddle && found.lbaHigh == signatureHigh:
		return Verdict{Passed: true}, nil
	case found.lbaMiddle == exceededMiddle && found.lbaHigh == exceededHigh:
		return Verdict{Passed: false}, nil
	}
	return Verdict{}, ErrNoVerdict
}

// ata sends a command without data by ATA PASS-THROUGH (16) (SAT-3, section 12.2.2) and
// reads the registers from the sense data, where CK_COND puts them.
func ata(device Device, feature, lbaMiddle, lbaHigh, command byte) (registers, error) {
	const passThrough16, nonData, ckCond = 0x85, 3 << 1, 1 << 5
	sense, err := device.SCSI([]byte{
		passThrough16, nonData, ckCond, 0, feature, 0, 0, 0, 0, 0, lbaMiddle, 0, lbaHigh, 0, command, 0,
	}, nil)
	if err != nil {
		return registers{}, err
	}
	if found, is := ataReturn(sense); is {
		return found, nil
	}
	return registers{}, ErrNoVerdict // a bridge that does not pass such commands
}

// ataReturn finds the registers in sense data: in the descriptor ATA Status Return (SAT-3,
// section 12.2.6), or in the fields of the fixed format (section 12.2.7).
func ataReturn(sense []byte) (registers, bool) {
	const (
		descriptors, fixed          = 0x72, 0x70
		statusReturn, returnLength  = 0x09, 14
		fixedLength                 = 14
		passThroughInformation      = 0x1d // the additional sense code qualifier, of code 0
		descriptorsFrom, qualifier  = 8, 3
		fixedQualifier, fixedStatus = 13, 4
	)
	if len(sense) > fixedLength-1 && sense[0]&0x7f == fixed && sense[12] == 0 && sense[fixedQualifier] == passThroughInformation {
		return registers{count: sense[6], lbaMiddle: sense[10], lbaHigh: sense[11], status: sense[fixedStatus]}, true
	}
	if len(sense) <= descriptorsFrom || sense[0]&0x7f != descriptors {
		return registers{}, false
	}
	for rest := sense[descriptorsFrom:]; len(rest) >= 2; rest = rest[min(len(rest), 2+int(rest[1])):] {
		if rest[0] == statusReturn && len(rest) >= returnLength {
			return registers{count: rest[5], lbaMiddle: rest[9], lbaHigh: rest[11], status: rest[13]}, true
		}
	}
	return registers{}, false
}
