package site

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const addressFolder = "addresses"

// Station is an interface that answers on the network of a site.
type Station struct {
	Machine string       `json:"machine"`
	MAC     string       `json:"mac"`
	Address netip.Prefix `json:"address"`
	MTU     int          `json:"mtu"`  // bytes; larger packets are lost
	Loss    int          `json:"loss"` // percent of the packets to it that are lost
}

// Attach lets stations answer. An address may be attached with several MACs: a
// collision.
func (s *Site) Attach(stations ...Station) error {
	for _, st := range stations {
		folder := filepath.Join(addressFolder, st.Address.Addr().String())
		if err := os.MkdirAll(filepath.Join(s.dir, folder), 0o755); err != nil {
			return fmt.Errorf("attach %s to the network: %w", st.Machine, err)
		}
		if err := s.write(filepath.Join(folder, st.MAC), st); err != nil {
			return err
		}
	}
	return nil
}

// Detach silences stations; a station that is silent already is no error.
func (s *Site) Detach(stations ...Station) error {
	for _, st := range stations {
		err := os.Remove(filepath.Join(s.dir, addressFolder, st.Address.Addr().String(), st.MAC))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("detach %s from the network: %w", st.Machine, err)
		}
	}
	return nil
}

// Stations lists the stations that answer for an address, by MAC.
func (s *Site) Stations(address netip.Addr) []Station {
	folder := filepath.Join(addressFolder, address.String())
	entries, err := os.ReadDir(filepath.Join(s.dir, folder))
	if err != nil {
		return nil
	}
	var found []Station
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") { // being written
			continue
		}
		var st Station
		if s.read(filepath.Join(folder, e.Name()), &st) == nil && st.MAC != "" {
			found = append(found, st)
		}
	}
	return found
}

const fetchFolder = "fetches"

// NoteFetch says that the machine at an address asked the cluster for the Ignition of a pool.
func (s *Site) NoteFetch(address netip.Addr, pool string) error {
	if err := os.MkdirAll(filepath.Join(s.dir, fetchFolder), 0o755); err != nil {
		return fmt.Errorf("note a fetch of Ignition: %w", err)
	}
	return s.writeText(filepath.Join(fetchFolder, address.String()), pool)
}

// LastFetch returns when the machine at an address asked last; zero for never.
func (s *Site) LastFetch(address netip.Addr) time.Time {
	info, err := os.Stat(filepath.Join(s.dir, fetchFolder, address.String()))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// Fetches lists the pools that machines asked for, by the address of the machine.
func (s *Site) Fetches() map[netip.Addr]string {
	entries, err := os.ReadDir(filepath.Join(s.dir, fetchFolder))
	if err != nil {
		return nil
	}
	fetched := map[netip.Addr]string{}
	for _, e := range entries {
		address, err := netip.ParseAddr(e.Name())
		if err != nil {
			continue
		}
		if pool, err := os.ReadFile(filepath.Join(s.dir, fetchFolder, e.Name())); err == nil {
			fetched[address] = string(pool)
		}
	}
	return fetched
}
