package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/google/uuid"

	"slipway/internal/platform/hostexec"
	"slipway/internal/sim"
	"slipway/internal/sim/kubeapi"
)

// hubNode is a host with an address in the resources.
type hubNode struct{ Name, Interface, MAC, Address string }

// define writes the resources into a folder and applies it.
func (h *hubDemo) define(ctx context.Context) error {
	of := h.ha.plan.release
	values := struct {
		PullSecret, Version, ReleaseImage string
		Masters                           []hubNode
	}{
		PullSecret: h.releases.pullSecret(of).Reveal(), Version: of.version, ReleaseImage: h.releases.served[of].ReleaseImage(of.version),
	}
	for _, host := range h.ha.plan.hosts {
		nic := host.spec.NICs[0]
		values.Masters = append(values.Masters, hubNode{host.spec.Hostname, nic.Name, nic.MAC, nic.Addresses[0].Addr().String()})
	}
	h.resources = filepath.Join(h.dir, "resources")
	if err := os.MkdirAll(h.resources, 0o700); err != nil {
		return fmt.Errorf("make the folder of the resources: %w", err)
	}
	templates, err := template.ParseFS(resources, "resources/*.yaml")
	if err != nil {
		return fmt.Errorf("read the resources: %w", err)
	}
	for _, t := range templates.Templates() {
		var text bytes.Buffer
		if err := t.Execute(&text, values); err != nil {
			return fmt.Errorf("write the resources: %w", err)
		}
		if err := os.WriteFile(filepath.Join(h.resources, t.Name()), text.Bytes(), 0o600); err != nil {
			return fmt.Errorf("write the resources: %w", err)
		}
	}
	if err := h.kubectl.show(ctx, "apply", "-f", h.resources); err != nil {
		return err
	}
	if err := h.kubectl.show(ctx, "config", "set-context", "--current", "--namespace=demo"); err != nil {
		return err
	}
	return h.kubectl.show(ctx, "wait", "infraenvs", "--all", "--for=condition=ImageCreated", waitLimit)
}

// boot starts the machines: the masters with the image of their cluster, the others with the image of the pool.
func (h *hubDemo) boot(ctx context.Context) error {
	ids := map[string]uuid.UUID{}
	objects, err := h.service.client.KubeObjects(ctx)
	if err != nil {
		return fmt.Errorf("list what the resources define: %w", err)
	}
	for _, o := range objects {
		if o.Kind == "cluster" {
			ids[o.Name] = o.ID
		}
	}
	h.ha.id, h.sno.id = ids["ha"], ids["sno"]
	own, err := h.image(ctx, "ha")
	if err != nil {
		return err
	}
	pool, err := h.image(ctx, "pool")
	if err != nil {
		return err
	}
	h.board.say("machines boot: three masters from the image of ha, worker-0 and sno from the image of the pool")
	if err := h.ha.play(own); err != nil {
		return err
	}
	if err := h.ha.bootFrom(pool, h.ha.plan.added[0]); err != nil {
		return err
	}
	if err := h.sno.play(pool); err != nil {
		return err
	}
	if _, err := h.agents(ctx, "master-0", "master-1", "master-2", "worker-0", "sno"); err != nil {
		return err
	}
	return h.kubectl.show(ctx, "get", "agents")
}

// image reads what machines get from the image of an InfraEnv.
func (h *hubDemo) image(ctx context.Context, infraEnv string) (sim.Discovery, error) {
	url, err := h.kubectl.run(ctx, "get", "infraenv", infraEnv, "-o", "jsonpath={.status.bootArtifacts.discoveryIgnitionURL}")
	if err != nil {
		return sim.Discovery{}, err
	}
	config, err := h.fetch(ctx, url)
	if err != nil {
		return sim.Discovery{}, fmt.Errorf("download the discovery Ignition of InfraEnv %s: %w", infraEnv, err)
	}
	return sim.ReadDiscovery(config)
}

// fetch reads an address of the service as its administrator.
func (h *hubDemo) fetch(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+h.service.token.Reveal())
	response, err := h.service.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, bytes.TrimSpace(content))
	}
	return content, err
}

// agents returns the names of the Agents of hosts, once there are.
func (h *hubDemo) agents(ctx context.Context, hosts ...string) ([]string, error) {
	for {
		out, err := h.kubectl.run(ctx, "get", "agents", "-o",
			`jsonpath={range .items[*]}{.status.inventory.hostname}{" "}{.metadata.name}{"\n"}{end}`)
		if err != nil {
			return nil, err
		}
		names := map[string]string{}
		for line := range strings.Lines(out) {
			host, name, _ := strings.Cut(strings.TrimSpace(line), " ")
			names[host] = name
		}
		var found []string
		for _, host := range hosts {
			if name := names[host]; name != "" {
				found = append(found, name)
			}
		}
		if len(found) == len(hosts) {
			return found, nil
		}
		if err := hostexec.Sleep(ctx, lookEvery); err != nil {
			return nil, fmt.Errorf("wait for Agents of %s: %w", strings.Join(hosts, ", "), err)
		}
	}
}

// patch changes the Agent of a host.
func (h *hubDemo) patch(ctx context.Context, host string, spec map[string]any) (agent string, err error) {
	names, err := h.agents(ctx, host)
	if err != nil {
		return "", err
	}
	change, err := json.Marshal(map[string]any{"spec": spec})
	if err != nil {
		return "", fmt.Errorf("write the patch: %w", err)
	}
	return "agent/" + names[0], h.kubectl.show(ctx, "patch", "agent", names[0], "--type=merge", "-p", string(change))
}

func toCluster(name string) map[string]any { return map[string]any{"namespace": "demo", "name": name} }

// bindLate binds a host of the pool to a cluster and takes it back.
func (h *hubDemo) bindLate(ctx context.Context) error {
	agent, err := h.patch(ctx, "worker-0", map[string]any{"clusterDeploymentName": toCluster("ha")})
	if err != nil {
		return err
	}
	if err := h.kubectl.show(ctx, "wait", agent, "--for=condition=Bound", waitLimit); err != nil {
		return err
	}
	if _, err := h.patch(ctx, "worker-0", map[string]any{"clusterDeploymentName": nil}); err != nil {
		return err
	}
	return h.kubectl.show(ctx, "wait", agent, "--for=condition=Bound=false", waitLimit)
}

// install approves hosts and waits for the clusters.
func (h *hubDemo) install(ctx context.Context) error {
	for _, host := range []string{"master-0", "master-1", "master-2"} {
		if _, err := h.patch(ctx, host, map[string]any{"approved": true, "role": "master"}); err != nil {
			return err
		}
	}
	if _, err := h.patch(ctx, "sno", map[string]any{"approved": true, "clusterDeploymentName": toCluster("sno")}); err != nil {
		return err
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	go func() { done <- h.watch(watching) }()
	err := h.kubectl.show(ctx, "wait", "agentclusterinstalls", "--all", "--for=condition=Completed", waitLimit)
	stop()
	if err := errors.Join(err, <-done); err != nil {
		return err
	}
	if err := h.kubectl.show(ctx, "get", "agentclusterinstalls,clusterdeployments,agents"); err != nil {
		return err
	}
	for _, cluster := range []string{"ha", "sno"} {
		if err := h.kubectl.show(ctx, "get", "secret", cluster+"-admin-kubeconfig", cluster+"-admin-password"); err != nil {
			return err
		}
	}
	return errors.Join(h.ha.prove(ctx), h.sno.prove(ctx))
}

// watch prints the rows of Agents as they change, until ctx ends.
func (h *hubDemo) watch(ctx context.Context) error {
	args := []string{
		"get", "agents", "--watch", "-o",
		"custom-columns=HOST:.status.inventory.hostname,STATE:.status.debugInfo.state,STAGE:.status.progress.currentStage",
	}
	h.kubectl.announce(args)
	command := h.kubectl.command(ctx, args...)
	out, err := command.StdoutPipe()
	if err != nil {
		return fmt.Errorf("watch the Agents: %w", err)
	}
	if err := command.Start(); err != nil {
		return fmt.Errorf("watch the Agents: %w", err)
	}
	h.board.follow(out)
	if err := command.Wait(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("watch the Agents: %w", err)
	}
	return nil
}

// addWorker binds the host of the pool to the installed cluster.
func (h *hubDemo) addWorker(ctx context.Context) error {
	h.board.say("the API of the simulated cluster has no name in DNS: the kubeconfig of ha gets its address")
	kubeconfig, err := kubeapi.Kubeconfig(h.ha.place.Address(), kubeapi.UserAdmin)
	if err != nil {
		return err
	}
	change, err := json.Marshal(map[string]any{"stringData": map[string]string{"kubeconfig": string(kubeconfig)}})
	if err != nil {
		return fmt.Errorf("write the patch: %w", err)
	}
	if err := h.kubectl.show(ctx, "patch", "secret", "ha-admin-kubeconfig", "--type=merge", "-p", string(change)); err != nil {
		return err
	}
	agent, err := h.patch(ctx, "worker-0", map[string]any{"approved": true, "clusterDeploymentName": toCluster("ha")})
	if err != nil {
		return err
	}
	if err := h.kubectl.show(ctx, "wait", agent, "--for=condition=Installed", waitLimit); err != nil {
		return err
	}
	if err := sim.AwaitNodes(ctx, h.ha.place, lookEvery, "worker-0"); err != nil {
		return err
	}
	h.board.say("cluster ha has one more node")
	if err := h.kubectl.show(ctx, "get", agent, "-o", "jsonpath={.status.csrStatus.approvedCSRs}"); err != nil {
		return err
	}
	return h.kubectl.show(ctx, "get", "agents")
}
