package operators

import (
	"bytes"
	"embed"
	"fmt"
	"slices"
	"text/template"

	"slipway/internal/model"
)

// File is a manifest of operators; Content is YAML, of one or more documents.
type File struct {
	Name    string
	Content []byte
}

// resources are what each operator is given to do once it runs, by its name; with
// install- before it what it needs of the nodes, and with olm- what installs any of them.
//
//go:embed resources/*.yaml
var resources embed.FS

var resourceTemplates = template.Must(template.New("").ParseFS(resources, "resources/*.yaml"))

// globalNamespace exists in every cluster and has a group of all namespaces.
const globalNamespace = "openshift-operators"

// Manifests are those of the chosen operators. olm installs them: namespace, operator
// group and subscription, part of the installation. custom are the resources they act
// on, which a cluster only takes once the operators run; in the order to apply them,
// what an operator needs before it.
func Manifests(c *model.Cluster, hosts []*model.Host) (olm, custom []File, err error) {
	p := NewPlan(c, hosts)
	namespaces := map[string]bool{globalNamespace: true}
	for _, o := range p.inOrder() {
		files, err := p.install(o, namespaces)
		if err != nil {
			return nil, nil, err
		}
		nodes, err := p.own("install-"+o.Name+".yaml", "50-"+o.Subscription.Namespace+"-nodes.yaml")
		if err != nil {
			return nil, nil, err
		}
		late, err := p.own(o.Name+".yaml", "operator-"+o.Name+".yaml")
		if err != nil {
			return nil, nil, err
		}
		olm, custom = slices.Concat(olm, files, nodes), append(custom, late...)
	}
	return olm, custom, nil
}

// own is a manifest that only some operators have, and some only in some clusters.
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

// install subscribes to an operator; namespaces are those made already: two groups in
// one would install nothing.
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
	if !namespaces[s.Namespace] {
		namespaces[s.Namespace] = true
		for _, part := range []string{"namespace", "group"} {
			f, err := fill("olm-"+part+".yaml", fmt.Sprintf("50-%s-%s.yaml", s.Namespace, part), data)
			if err != nil {
				return nil, err
			}
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

// The methods below are used by the templates.

// SingleNode reports whether the cluster is one node.
func (p *Plan) SingleNode() bool { return p.singleNode() }

// HostPathStorage reports whether virtual machines keep their volumes in a folder.
func (p *Plan) HostPathStorage() bool { return p.hostPathStorage() }

// StorageClass is that of the operator for storage; empty: none is installed.
func (p *Plan) StorageClass() string {
	switch {
	case p.chosen["odf"]:
		return "ocs-storagecluster-ceph-rbd"
	case p.chosen["lvm"]:
		return "lvms-vg1"
	}
	return ""
}

// StorageSets is how many sets of disks, one on each of three hosts, hold the storage.
func (p *Plan) StorageSets() int {
	_, disks := p.odfDisks()
	return max(disks/odfHosts, 1)
}

// Compact reports whether all nodes hold the storage, because the cluster has no workers.
func (p *Plan) Compact() bool { return p.odfWorkers() == 0 }
