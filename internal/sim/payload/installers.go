package payload

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"strings"

	"slipway/internal/sim/payload/standin"
)

// installers maps the images of a release that hold an installer to the programs in them. oc extracts from
// these images and paths (openshift/oc, pkg/cli/admin/release/extract_tools.go): baremetal-installer has its
// program under the same path as installer, and the name openshift-baremetal-install is only given by oc to
// the extracted file. Both are of the architecture of the release. installer-artifacts is in the payload of
// every architecture and has programs for two of them.
func installers(version string, opts Options) map[string][]file {
	const program = "usr/bin/openshift-install"
	own := func(build string) []file {
		return []file{{path: program, mode: 0o755, data: installerFor(opts.Architecture, version, build, opts)}}
	}
	artifacts := []file{
		{path: "usr/share/openshift/mac/openshift-install", mode: 0o755, data: []byte("\xcf\xfa\xed\xfe")},
		{path: "usr/share/openshift/mac_arm64/openshift-install", mode: 0o755, data: []byte("\xcf\xfa\xed\xfe")},
	}
	for _, architecture := range []string{"amd64", "arm64"} {
		artifacts = append(artifacts, file{
			path: "usr/share/openshift/linux_" + architecture + "/openshift-install", mode: 0o755,
			data: installerFor(architecture, version, standin.BuildStatic, opts),
		})
	}
	return map[string][]file{
		"installer":           own(standin.BuildStatic),
		"baremetal-installer": own(standin.BuildDynamic),
		"installer-artifacts": artifacts,
	}
}

// installerFor makes the program for an architecture: it runs where this is the machine's own.
func installerFor(architecture, version, build string, opts Options) []byte {
	if architecture != cmp.Or(opts.HostArchitecture, opts.Architecture) {
		return foreign(architecture)
	}
	return []byte(wrapper(opts.InstallerCommand, []string{
		standin.VariableVersion + "=" + version,
		standin.VariableBuild + "=" + build,
		standin.VariableFIPS + "=" + map[bool]string{true: "1", false: "0"}[opts.HostFIPS],
	}))
}

// wrapper makes the installer as a host runs it: it hands over to the stand-in.
func wrapper(command, environment []string) string {
	var b strings.Builder
	b.WriteString("#!/bin/sh\n")
	for _, variable := range environment {
		fmt.Fprintf(&b, "export %s\n", variable)
	}
	b.WriteString("exec")
	for _, w := range command {
		b.WriteString(" '" + strings.ReplaceAll(w, "'", `'\''`) + "'")
	}
	return b.String() + ` "$@"` + "\n"
}

// elfMachines are e_machine and byte order of the architectures of OpenShift (System V ABI, "ELF header").
var elfMachines = map[string]struct {
	machine uint16
	order   binary.ByteOrder
}{
	"amd64":   {62, binary.LittleEndian},
	"arm64":   {183, binary.LittleEndian},
	"ppc64le": {21, binary.LittleEndian},
	"s390x":   {22, binary.BigEndian},
}

// foreign makes a program of another architecture: its ELF header, which the kernel refuses with ENOEXEC.
func foreign(architecture string) []byte {
	const (
		headerSize         = 64
		class64            = 2
		little, big        = 1, 2
		version            = 1
		typeExecutable     = 2
		atClass, atData    = 4, 5
		atVersion, atType  = 6, 16
		atMachine, atWords = 18, 20
		atHeaderSize       = 52
	)
	h := make([]byte, headerSize)
	copy(h, "\x7fELF")
	m := elfMachines[architecture]
	h[atClass], h[atData], h[atVersion] = class64, little, version
	if m.order == nil {
		m.order = binary.LittleEndian
	}
	if m.order == binary.BigEndian {
		h[atData] = big
	}
	m.order.PutUint16(h[atType:], typeExecutable)
	m.order.PutUint16(h[atMachine:], m.machine)
	m.order.PutUint32(h[atWords:], version)
	m.order.PutUint16(h[atHeaderSize:], headerSize)
	return h
}
