package operators

import (
	"bytes"
	"embed"
	"fmt"
	"slices"
	"text/template"

	"slipway/internal/cluster/hardware"
	"slipway/internal/model"
)

// File is a manifest of operators; Content is YAML, of one or more documents. A manifest of the installation has the name of a file; a
// late manifest has the name of the operator it waits for.
type File struct {
	Name    string
	Content []byte
}

// resources holds the resources that each operator acts on once it runs, by its name; with the prefix install- what it needs besides
// its subscription, with with-storage- what it is given once there is storage, and with olm- what installs any of them.
//
//go:embed resources/*.yaml
var resources embed.FS

var resourceTemplates = template.Must(template.New("").Funcs(template.FuncMap{
	"list": func(values ...string) []string { return values },
}).ParseFS(resources, "resources/*.yaml"))

// globalNamespace exists in every cluster and has a group of all namespaces.
const globalNamespace = "openshift-operators"

// Manifests makes the manifests of the chosen operators. olm installs them: namespace, operator group and subscription, and what nodes
// need, part of the installation. custom are the resources they act on, which a cluster only takes once the operators run; in the order
// to apply them, what an operator needs before it.
func Manifests(c *model.Cluster, hosts []*model.Host) (olm, custom []File, err error) {
	p := NewPlan(c, hosts)
	namespaces := map[string]bool{globalNamespace: true}
	for _, o := range p.inOrder() {
		files, err := p.install(o, namespaces)
		if err != nil {
			return nil, nil, err
		}
		extra, err := p.own("install-"+o.Name+".yaml", fmt.Sprintf("50-%s-%s.yaml", o.Subscription.Namespace, o.Name))
		if err != nil {
			return nil, nil, err
		}
		late, err := p.own(o.Name+".yaml", o.Name)
		if err != nil {
			return nil, nil, err
		}
		olm, custom = slices.Concat(olm, files, extra), append(custom, late...)
	}
	onStorage, err := p.onStorage()
	return olm, append(custom, onStorage...), err
}

// onStorage makes the resources that need the operator for storage besides their own; they come last.
func (p *Plan) onStorage() ([]File, error) {
	storage := p.storageOperator()
	if !p.chosen["mce"] || storage == "" {
		return nil, nil
	}
	return p.own("with-storage-mce.yaml", storage)
}

// own makes a manifest that only some operators have, and some only in some clusters.
func (p *Plan) own(name, file string) ([]File, error) {
	if resourceTemplates.Lookup(name) == nil {
		return nil, nil
	}
	f, err := fill(name, file, p)
	if err != nil || len(f.Content) == 0 {
		return nil, err
	}
	return []File{f}, nil
}

// inOrder lists the chosen operators, each after those it needs.
func (p *Plan) inOrder() []*Operator {
	var out []*Operator
	seen := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if seen[name] || !p.chosen[name] || byName[name] == nil {
			return
		}
		seen[name] = true
		for _, d := range byName[name].Dependencies {
			visit(d)
		}
		out = append(out, byName[name])
	}
	for i := range catalogue {
		visit(catalogue[i].Name)
	}
	return out
}

// install subscribes to an operator; namespaces holds the namespaces made already: two groups in one namespace would install nothing.
func (p *Plan) install(o *Operator, namespaces map[string]bool) ([]File, error) {
	s := o.Subscription
	data := struct {
		Subscription
		Title string
	}{s, o.Title}
	data.Name = s.nameIn(p)
	if data.Package == "" {
		data.Package = data.Name
	}
	if data.Source == "" {
		data.Source = "redhat-operators"
	}
	var files []File
	parts := []string{"namespace", "group", "prometheus"}
	if namespaces[s.Namespace] {
		parts = nil
	}
	namespaces[s.Namespace] = true
	for _, part := range parts {
		f, err := fill("olm-"+part+".yaml", fmt.Sprintf("50-%s-%s.yaml", s.Namespace, part), data)
		if err != nil {
			return nil, err
		}
		if len(f.Content) > 0 {
			files = append(files, f)
		}
	}
	f, err := fill("olm-subscription.yaml", fmt.Sprintf("50-%s-%s-subscription.yaml", s.Namespace, o.Name), data)
	return append(files, f), err
}

func fill(name, file string, data any) (File, error) {
	var b bytes.Buffer
	if err := resourceTemplates.ExecuteTemplate(&b, name, data); err != nil {
		return File{}, fmt.Errorf("write manifest %s: %w", file, err)
	}
	content := bytes.TrimSpace(b.Bytes())
	if len(content) > 0 {
		content = append(content, '\n')
	}
	return File{Name: file, Content: content}, nil
}

// storageOperator returns the operator that provides volumes; empty: none is installed.
func (p *Plan) storageOperator() string {
	for _, name := range []string{"odf", "lvm"} {
		if p.chosen[name] {
			return name
		}
	}
	return ""
}

// The methods below are used by the templates.

// SingleNode reports whether the cluster is one node.
func (p *Plan) SingleNode() bool { return p.singleNode() }

// Before reports whether the cluster's OpenShift is older than a minor version.
func (p *Plan) Before(minor string) bool { return p.before(minor) }

// HostPathStorage reports whether virtual machines keep their volumes in a folder.
func (p *Plan) HostPathStorage() bool { return p.hostPathStorage() }

// StorageClass returns the storage class of the operator for storage; empty: none is installed.
func (p *Plan) StorageClass() string {
	return map[string]string{"odf": "ocs-storagecluster-cephfs", "lvm": "lvms-vg1"}[p.storageOperator()]
}

// StorageDisks counts the disks that hold the storage. An arbiter has none of them: the storage runs on nodes with
// the role of workers, which the control plane of a compact cluster has too.
func (p *Plan) StorageDisks() int {
	disks := 0
	for _, h := range p.hosts {
		if role := h.EffectiveRole(); role != model.RoleArbiter && p.odfStores(role) {
			n, _ := hardware.DataDisks(h, odfDiskBytes)
			disks += n
		}
	}
	return max(disks, 1)
}

// Compact reports whether the control plane holds the storage, because the cluster has no workers.
func (p *Plan) Compact() bool { return p.odfWorkers() == 0 }

// WorkPool returns the pool of the nodes that run the work of users: without workers the pool of workers is empty.
func (p *Plan) WorkPool() string {
	if p.workers == 0 {
		return "master"
	}
	return "worker"
}

// CLIImage returns the image of the release that has the client of OpenShift; empty: the release has not been read.
func (p *Plan) CLIImage() string { return p.cluster.ReleaseComponents["cli"] }
