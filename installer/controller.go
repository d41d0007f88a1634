package installer

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"slipway/internal/wire"
)

// controllerFolder holds the manifests that the bootstrap services apply to the new cluster.
const controllerFolder = "/opt/openshift/manifests"

//go:embed manifests/*.yaml manifests/start.sh
var controllerFiles embed.FS

// controllerEnv are the variables the controller reads and the keys of its ConfigMap
// (docs/reference/installer.md, "Manifests of the controller").
var controllerEnv = []envKey{
	{"CLUSTER_ID", "cluster-id"},
	{"INVENTORY_URL", "inventory-url"},
	{"OPENSHIFT_VERSION", "openshift-version"},
	{"SKIP_CERT_VERIFICATION", "skip-cert-verification"},
	{"CA_CERT_PATH", "ca-cert-path"},
	{"CHECK_CLUSTER_VERSION", "check-cluster-version"},
	{"CONTROL_PLANE_COUNT", "control-plane-count"},
	{"MUST_GATHER_IMAGE", "must-gather-image"},
	{"NOTIFY_NUM_REBOOTS", "notify-num-reboots"},
}

type envKey struct{ Name, Key string }

// controllerValues fill the manifests of the controller.
type controllerValues struct {
	ClusterID, ServiceURL, OpenShiftVersion    string
	Insecure, CheckVersion, NotifyReboots      string
	CACert, ControlPlaneCount, MustGatherImage string
	Token, Image                               string
	ServiceIPs                                 []string
	Env                                        []envKey
	// Script fetches and starts the program where the image does not contain it; Sums are the lines of its
	// SHA256SUMS.
	Script string
	Sums   []string
	// SingleNode uses the kubeconfig of the bootstrap phase.
	SingleNode bool
}

// addController writes the manifests that run the controller in the new cluster.
func (i *Installer) addController(req *wire.BootstrapRequest) error {
	values, err := i.controllerValues(req)
	if err != nil {
		return err
	}
	// strconv.Quote writes what a YAML double-quoted scalar can hold.
	all, err := template.New("").Funcs(template.FuncMap{"quote": strconv.Quote, "indent": indent}).
		ParseFS(controllerFiles, "manifests/*.yaml")
	if err != nil {
		return fmt.Errorf("read the manifests: %w", err)
	}
	for _, t := range all.Templates() {
		if t.Name() == "" {
			continue
		}
		var text bytes.Buffer
		if err := t.Execute(&text, values); err != nil {
			return fmt.Errorf("fill %s: %w", t.Name(), err)
		}
		name := path.Join(controllerFolder, "assisted-installer-controller-"+t.Name())
		if err := i.writeFile(name, text.Bytes(), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (i *Installer) controllerValues(req *wire.BootstrapRequest) (controllerValues, error) {
	values := controllerValues{
		ClusterID: req.ClusterID.String(), ServiceURL: i.Client.BaseURL(), OpenShiftVersion: req.OpenshiftVersion,
		Insecure: strconv.FormatBool(i.Insecure), CheckVersion: strconv.FormatBool(req.CheckCvo),
		NotifyReboots: strconv.FormatBool(req.NotifyNumReboots), CACert: i.CACert,
		ControlPlaneCount: strconv.Itoa(req.ControlPlaneCount), MustGatherImage: req.MustGatherImage,
		Token: cmp.Or(req.ControllerToken, i.Client.Token().Reveal()), Image: req.ControllerImage, ServiceIPs: req.ServiceIps, Env: controllerEnv,
		SingleNode: singleNode(&req.InstallCmdRequest),
	}
	if req.Controller != nil {
		script, err := controllerFiles.ReadFile("manifests/start.sh")
		if err != nil {
			return values, fmt.Errorf("read the start of the controller: %w", err)
		}
		values.Image, values.Script, values.Sums = req.Controller.Image, string(script), sums(req.Controller.Programs)
	}
	if values.Image == "" {
		return values, errors.New("require an image to run the controller in: " +
			"the release has no image cli, and the service names none (CONTROLLER_IMAGE)")
	}
	return values, nil
}

// sums lists the hashes of the programs by the machine names of Linux, as sha256sum writes them.
func sums(programs map[string]wire.AgentProgram) []string {
	var lines []string
	for architecture, program := range programs {
		machine := cmp.Or(map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[architecture], architecture)
		lines = append(lines, program.SHA256+"  "+machine)
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// indent moves the lines of a text to the right, as a YAML block scalar needs.
func indent(by int, text string) string {
	blanks := strings.Repeat(" ", by)
	return blanks + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+blanks)
}
