package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"slipway/internal/platform/hostexec"
)

const (
	// ourKinds are the kinds of resources that are followed or written.
	ourKinds = "infraenvs,nmstateconfigs,agents,agentclassifications,agentclusterinstalls,clusterdeployments,clusterimagesets"
	// leftLimit is how long something may be left after a deletion: the service removes deleted rows later.
	leftLimit = 5 * time.Minute
	// restFor is how long nothing may change before resources are at rest.
	restFor = 5 * time.Second
)

// deleteAll deletes the resources of the folder, its namespace among them, and looks for what is left.
func (h *hubDemo) deleteAll(ctx context.Context) error {
	if err := h.kubectl.show(ctx, "delete", "-f", h.resources, "--ignore-not-found", waitLimit); err != nil {
		return err
	}
	return h.awaitNothing(ctx)
}

// remains counts what is left of the clusters.
type remains struct{ objects, clusters, infraEnvs, files, workflows int }

func (r remains) String() string {
	return fmt.Sprintf("%d resources, %d clusters, %d InfraEnvs, %d files, %d running workflows", r.objects, r.clusters, r.infraEnvs, r.files,
		r.workflows)
}

// awaitNothing waits until nothing is left.
func (h *hubDemo) awaitNothing(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, leftLimit)
	defer cancel()
	for {
		left, err := h.remains(ctx)
		if err != nil {
			return fmt.Errorf("look for what is left: %w", err)
		}
		if left == (remains{}) {
			h.board.say("left behind: %s", left)
			return nil
		}
		if err := hostexec.Sleep(ctx, lookEvery); err != nil {
			return fmt.Errorf("require that nothing is left, found %s: %w", left, err)
		}
	}
}

func (h *hubDemo) remains(ctx context.Context) (left remains, err error) {
	for _, of := range [][]string{{ourKinds, "--all-namespaces"}, {"namespace", "demo", "--ignore-not-found"}} {
		names, err := h.kubectl.run(ctx, append([]string{"get", "-o", "name"}, of...)...)
		if err != nil {
			return left, err
		}
		left.objects += strings.Count(names, "\n")
	}
	for path, count := range map[string]*int{
		"/api/assisted-install/v2/clusters?get_unregistered_clusters=true": &left.clusters,
		"/api/assisted-install/v2/infra-envs":                              &left.infraEnvs,
	} {
		var list []json.RawMessage
		if err := h.read(ctx, h.service.url+path, &list); err != nil {
			return left, err
		}
		*count = len(list)
	}
	if left.files, err = filesBelow(filepath.Join(h.dir, "service", "blobs", "clusters")); err != nil {
		return left, err
	}
	var workflows struct {
		Executions []struct{ Execution struct{ WorkflowID string } }
	}
	query := url.Values{"query": {`ExecutionStatus = "Running" AND (WorkflowId STARTS_WITH "cluster:" OR WorkflowId STARTS_WITH "host:")`}}
	if err := h.read(ctx, h.service.temporal+"/api/v1/namespaces/slipway/workflows?"+query.Encode(), &workflows); err != nil {
		return left, err
	}
	left.workflows = len(workflows.Executions)
	return left, nil
}

func (h *hubDemo) read(ctx context.Context, address string, into any) error {
	content, err := h.fetch(ctx, address)
	if err != nil {
		return err
	}
	return json.Unmarshal(content, into)
}

func filesBelow(folder string) (count int, err error) {
	err = filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			count++
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	return count, err
}

// applyTwice applies the resources anew on the server, and once more: the second time nothing changes. Then it deletes the namespace.
func (h *hubDemo) applyTwice(ctx context.Context) error {
	apply := []string{"apply", "--server-side", "-f", h.resources}
	if err := h.kubectl.show(ctx, apply...); err != nil {
		return err
	}
	if err := h.kubectl.show(ctx, "wait", "infraenvs", "--all", "--for=condition=ImageCreated", waitLimit); err != nil {
		return err
	}
	if err := h.kubectl.show(ctx, "wait", "agentclusterinstalls", "--all", "--for=condition=SpecSynced", waitLimit); err != nil {
		return err
	}
	before, err := h.atRest(ctx)
	if err != nil {
		return err
	}
	for range 2 {
		if err := h.kubectl.show(ctx, apply...); err != nil {
			return err
		}
	}
	after, err := h.atRest(ctx)
	if err != nil {
		return err
	}
	if !slices.Equal(before, after) {
		return fmt.Errorf("require the same resources after the same YAML, found\n%s\nand then\n%s",
			strings.Join(before, ""), strings.Join(after, ""))
	}
	h.board.say("the same YAML, twice: none of %d resources has changed", len(after))
	if err := h.kubectl.show(ctx, "delete", "namespace/demo", "clusterimageset/openshift-"+version, waitLimit); err != nil {
		return err
	}
	return h.awaitNothing(ctx)
}

// atRest returns the versions of the resources once they stay as they are.
func (h *hubDemo) atRest(ctx context.Context) ([]string, error) {
	var last []string
	for {
		out, err := h.kubectl.run(ctx, "get", ourKinds+",secrets", "-o",
			`jsonpath={range .items[*]}{.kind}{" "}{.metadata.name}{" "}{.metadata.resourceVersion}{"\n"}{end}`)
		if err != nil {
			return nil, err
		}
		now := slices.Collect(strings.Lines(out))
		if slices.Equal(now, last) {
			return now, nil
		}
		last = now
		if err := hostexec.Sleep(ctx, restFor); err != nil {
			return nil, fmt.Errorf("wait until resources stay as they are: %w", err)
		}
	}
}
