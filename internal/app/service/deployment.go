package service

import (
	"encoding/pem"
	"fmt"
	"os"

	"slipway/internal/hostconfig/ignition"
	"slipway/internal/hostconfig/installconfig"
	"slipway/internal/hostconfig/manifests"
)

// deploymentOptions say what every host and cluster of this service gets.
type deploymentOptions struct {
	MirrorRegistries string `name:"mirror-registries" env:"SLIPWAY_MIRROR_REGISTRIES" type:"path" help:"File with the mirrors of registries for all hosts and clusters, a registries.conf of version 2." placeholder:"FILE"`
	MirrorCA         string `name:"mirror-ca" env:"SLIPWAY_MIRROR_CA" type:"path" help:"File with the certificates of the mirrors, PEM." placeholder:"FILE"`
	RootCA           string `name:"root-ca" env:"SLIPWAY_ROOT_CA" type:"path" help:"File with more certificates that all hosts and clusters trust, PEM." placeholder:"FILE"`
	InsecurePolicy   bool   `name:"insecure-policy" env:"FORCE_INSECURE_POLICY_JSON" help:"Hosts in discovery run images without signatures."`
	OKDPackages      string `name:"okd-packages" env:"OKD_RPMS_IMAGE" help:"Image with the packages that hosts of an OKD release lack." placeholder:"IMAGE"`
	SingleNodeDNS    bool   `name:"single-node-dns" env:"ENABLE_SINGLE_NODE_DNSMASQ" default:"true" negatable:"" help:"Single nodes answer for the names of their own cluster; without, the DNS of the user must."`
	TelemeterURL     string `name:"telemeter-url" env:"SLIPWAY_TELEMETER_URL" help:"Where new clusters send telemetry, instead of Red Hat." placeholder:"URL"`
}

// deployment is what they mean to the parts of the service.
type deployment struct {
	discovery     ignition.Deployment
	installConfig installconfig.Options
	manifests     manifests.Options
}

func (o deploymentOptions) read() (out deployment, err error) {
	out.manifests = manifests.Options{SingleNodeDNS: o.SingleNodeDNS, TelemeterURL: o.TelemeterURL}
	out.discovery = ignition.Deployment{InsecurePolicy: o.InsecurePolicy, OKDPackages: o.OKDPackages}
	if out.discovery.Mirror.RegistriesConf, err = readFile(o.MirrorRegistries); err != nil {
		return out, fmt.Errorf("read SLIPWAY_MIRROR_REGISTRIES: %w", err)
	}
	if out.installConfig.Mirrors, err = installconfig.ParseMirrors(out.discovery.Mirror.RegistriesConf); err != nil {
		return out, fmt.Errorf("read SLIPWAY_MIRROR_REGISTRIES: %w", err)
	}
	if out.discovery.Mirror.CA, err = readCertificates(o.MirrorCA); err != nil {
		return out, fmt.Errorf("read SLIPWAY_MIRROR_CA: %w", err)
	}
	if out.discovery.RootCA, err = readCertificates(o.RootCA); err != nil {
		return out, fmt.Errorf("read SLIPWAY_ROOT_CA: %w", err)
	}
	for _, bundle := range []string{out.discovery.RootCA, out.discovery.Mirror.CA} {
		if bundle != "" {
			out.installConfig.TrustBundles = append(out.installConfig.TrustBundles, bundle)
		}
	}
	return out, nil
}

// readFile is the text of a file; empty when none is named.
func readFile(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	data, err := os.ReadFile(path)
	return string(data), err
}

func readCertificates(path string) (string, error) {
	text, err := readFile(path)
	if err != nil || text == "" {
		return "", err
	}
	if block, _ := pem.Decode([]byte(text)); block == nil || block.Type != "CERTIFICATE" {
		return "", fmt.Errorf("require certificates in PEM in %s, found none", path)
	}
	return text, nil
}
