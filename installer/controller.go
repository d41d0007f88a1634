package installer

import (
	"bytes"
	"embed"
	"fmt"
	"path"
	"strconv"
	"text/template"

	"slipway/internal/wire"
)

// controllerFolder is what the bootstrap services apply to the new cluster.
const controllerFolder = "/opt/openshift/manifests"

//go:embed manifests/*.yaml
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
}

// addController writes the manifests that run the controller in the new cluster.
func (i *Installer) addController(req *wire.InstallCmdRequest) error {
	values := controllerValues{
		ClusterID: req.ClusterID.String(), ServiceURL: i.Client.BaseURL(), OpenShiftVersion: req.OpenshiftVersion,
		Insecure: strconv.FormatBool(i.Insecure), CheckVersion: strconv.FormatBool(req.CheckCvo),
		NotifyReboots: strconv.FormatBool(req.NotifyNumReboots), CACert: i.CACert,
		ControlPlaneCount: strconv.Itoa(req.ControlPlaneCount), MustGatherImage: req.MustGatherImage,
		Token: i.Client.Token().Reveal(), Image: req.ControllerImage, ServiceIPs: req.ServiceIps, Env: controllerEnv,
	}
	// strconv.Quote writes what a YAML double-quoted scalar can hold.
	all, err := template.New("").Funcs(template.FuncMap{"quote": strconv.Quote}).ParseFS(controllerFiles, "manifests/*.yaml")
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
