package model

// Architectures as releases, live images and limits of features name them. Multi is a release for several.
const (
	X8664   = "x86_64"
	ARM64   = "arm64"
	S390X   = "s390x"
	PPC64LE = "ppc64le"
	Multi   = "multi"
)

// Architecture maps the two names of one architecture to one. An empty name is x86_64.
func Architecture(name string) string {
	switch name {
	case "":
		return X8664
	case "aarch64":
		return ARM64
	}
	return name
}

// Architectures lists the architectures of hosts.
func Architectures() []string { return []string{X8664, ARM64, PPC64LE, S390X} }
