package ignition

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// statusAnnotation is where the bare metal operator reads the hardware of a host that it has not inspected
// itself (metal3.io, BareMetalHost status annotation).
const statusAnnotation = "baremetalhost.metal3.io/status"

// hardware is the part of BareMetalHost's status.hardware that an inventory can fill.
type hardware struct {
	CPU          hardwareCPU    `json:"cpu"`
	Firmware     struct{}       `json:"firmware"`
	Hostname     string         `json:"hostname"`
	NICs         []hardwareNIC  `json:"nics"`
	RAMMebibytes int            `json:"ramMebibytes"`
	Storage      []hardwareDisk `json:"storage"`
	SystemVendor hardwareVendor `json:"systemVendor"`
}

type hardwareCPU struct {
	Arch           string   `json:"arch"`
	ClockMegahertz float32  `json:"clockMegahertz"`
	Count          int      `json:"count"`
	Flags          []string `json:"flags,omitempty"`
	Model          string   `json:"model"`
}

type hardwareNIC struct {
	IP        string `json:"ip"`
	MAC       string `json:"mac"`
	Model     string `json:"model"`
	Name      string `json:"name"`
	SpeedGbps int    `json:"speedGbps"`
}

type hardwareDisk struct {
	HCTL         string `json:"hctl,omitempty"`
	Model        string `json:"model,omitempty"`
	Name         string `json:"name"`
	Rotational   bool   `json:"rotational"`
	SerialNumber string `json:"serialNumber"`
	SizeBytes    int    `json:"sizeBytes"`
	Vendor       string `json:"vendor,omitempty"`
	WWN          string `json:"wwn,omitempty"`
}

type hardwareVendor struct {
	Manufacturer string `json:"manufacturer"`
	ProductName  string `json:"productName"`
	SerialNumber string `json:"serialNumber"`
}

// describeBareMetalHost adds to the manifest of a BareMetalHost that its host runs already, and its hardware. The host has the
// manifest's boot MAC address; a manifest without such a host stays unchanged.
func describeBareMetalHost(manifest []byte, hosts []*model.Host) ([]byte, error) {
	var object map[string]any
	if err := yaml.Unmarshal(manifest, &object); err != nil {
		return nil, err
	}
	spec, _ := object["spec"].(map[string]any)
	mac, _ := spec["bootMACAddress"].(string)
	host := hostByMAC(hosts, mac)
	if host == nil {
		return manifest, nil
	}
	status, err := json.Marshal(map[string]any{"hardware": describe(host), "poweredOn": true})
	if err != nil {
		return nil, err
	}
	metadata, _ := object["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		object["metadata"] = metadata
	}
	annotations, _ := metadata["annotations"].(map[string]any)
	if annotations == nil {
		annotations = map[string]any{}
		metadata["annotations"] = annotations
	}
	annotations[statusAnnotation] = string(status)
	spec["externallyProvisioned"] = true
	return yaml.Marshal(object)
}

func hostByMAC(hosts []*model.Host, mac string) *model.Host {
	for _, h := range hosts {
		if h.Inventory == nil || mac == "" {
			continue
		}
		for _, nic := range h.Inventory.Interfaces {
			if nic.HasMAC(mac) {
				return h
			}
		}
	}
	return nil
}

func describe(h *model.Host) hardware {
	i := h.Inventory
	d := hardware{
		CPU: hardwareCPU{
			Arch: i.CPU.Architecture, ClockMegahertz: i.CPU.Frequency, Count: i.CPU.Count,
			Flags: i.CPU.Flags, Model: i.CPU.ModelName,
		},
		Hostname:     h.Hostname(),
		NICs:         []hardwareNIC{},
		RAMMebibytes: i.Memory.PhysicalBytes >> 20,
		Storage:      []hardwareDisk{},
		SystemVendor: hardwareVendor{
			Manufacturer: i.SystemVendor.Manufacturer, ProductName: i.SystemVendor.ProductName,
			SerialNumber: i.SystemVendor.SerialNumber,
		},
	}
	for _, nic := range i.Interfaces {
		for _, cidr := range slices.Concat(nic.Ipv4Addresses, nic.Ipv6Addresses) {
			p, err := netip.ParsePrefix(cidr)
			if err != nil {
				continue
			}
			d.NICs = append(d.NICs, hardwareNIC{
				IP: p.Addr().String(), MAC: nic.MacAddress, Model: strings.TrimSpace(nic.Vendor + " " + nic.Product),
				Name: nic.Name, SpeedGbps: nic.SpeedMbps / 1000,
			})
		}
	}
	for _, disk := range i.Disks {
		d.Storage = append(d.Storage, hardwareDisk{
			HCTL: disk.Hctl, Model: disk.Model, Name: disk.Path, Rotational: disk.DriveType == wire.DriveTypeHDD,
			SerialNumber: disk.Serial, SizeBytes: disk.SizeBytes, Vendor: disk.Vendor, WWN: disk.Wwn,
		})
	}
	return d
}
