package settings

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
)

// Place says where a service on this machine keeps what, for commands beside it.
type Place struct {
	ConfigFile
	KeyFile
	DataDir     string `default:"/var/lib/slipway" env:"SLIPWAY_DATA_DIR" type:"path" help:"Folder of the service."`
	DatabaseURL string `env:"SLIPWAY_DATABASE_URL" help:"PostgreSQL of the service, if it does not run in the data folder." placeholder:"URL"`
}

// Bundled are the flags of commands that start the database in the data folder.
type Bundled struct {
	PostgresUser string `name:"postgres-user" default:"slipway-postgres" env:"SLIPWAY_POSTGRES_USER" help:"System user that the database in the data folder runs as where root starts it; the default user is created where it does not exist. Other programs of that user reach the data." placeholder:"USER"`
}

// BlobAddress returns where objects are kept: at the given address, or in the data folder.
func BlobAddress(given, dataDir string) string {
	return cmp.Or(given, "file://"+filepath.Join(dataDir, "blobs")+"?create_dir=1")
}

// Reachable replaces the address of all interfaces by the address of the machine's default route.
func Reachable(listener string) string {
	host, port, err := net.SplitHostPort(listener)
	if err != nil {
		return listener
	}
	if ip, err := netip.ParseAddr(host); err != nil || !ip.IsUnspecified() {
		return listener
	}
	// A connected socket of UDP sends nothing: it shows which address would be used (an address of RFC 5737).
	c, err := net.Dial("udp", "192.0.2.1:9")
	if err != nil {
		return net.JoinHostPort("127.0.0.1", port)
	}
	defer func() { _ = c.Close() }()
	own, _, err := net.SplitHostPort(c.LocalAddr().String())
	if err != nil {
		return listener
	}
	return net.JoinHostPort(own, port)
}

// ProgramFolder returns the folder with the programs of hosts and new clusters: the given one, or the folder that belongs to this program.
func ProgramFolder(given string) (string, error) {
	if given != "" {
		return given, nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find agent binaries: %w", err)
	}
	return besideProgram(self), nil
}

// besideProgram returns the folder with the programs of hosts that belongs to a service: its own, or lib/slipway beside a bin, where
// packages put them.
func besideProgram(program string) string {
	own := filepath.Dir(program)
	library := filepath.Join(filepath.Dir(own), "lib", "slipway")
	for _, folder := range []string{own, library} {
		if found, err := filepath.Glob(filepath.Join(folder, "slipway-agent-*")); err == nil && len(found) > 0 {
			return folder
		}
	}
	return own
}
