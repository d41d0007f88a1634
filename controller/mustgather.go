package controller

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"slipway/internal/model"
	"slipway/internal/wire"
)

const (
	// gatherLimit bounds must-gather; it stops by itself after ten minutes (openshift/oc, pkg/cli/admin/mustgather).
	gatherLimit = 15 * time.Minute
	// gatherBytes bounds the part of it that is sent.
	gatherBytes int64 = 1 << 30
	// podLogTail bounds the log of one container where must-gather cannot run, and podLogs how many are read (bytes).
	podLogTail int64 = 1 << 20
	podLogs          = 300
	// gatherPlatform is the key of the platform's own image of must-gather.
	gatherPlatform = "ocp"
)

// gatherNames are other names that operators have in lists of images.
var gatherNames = map[string]string{"odf": "ocs"}

// gather adds the state of the cluster to an archive: must-gather's, and where that cannot run the logs of pods in
// trouble. Nothing here fails: a cluster in trouble answers only some requests.
func (c *controller) gather(ctx context.Context, files *archive) {
	folder, err := os.MkdirTemp("", "slipway-must-gather-*")
	if err == nil {
		defer func() { _ = os.RemoveAll(folder) }()
		err = c.mustGather(ctx, folder)
	}
	if folder != "" { // also what it gathered before it failed
		err = errors.Join(err, files.tree("must-gather", folder, gatherBytes))
	}
	if err == nil {
		return
	}
	c.note(ctx, "must-gather", err)
	files.text("must-gather-failed.txt", err.Error()+"\n")
	files.text("pods.txt", c.podsInTrouble(ctx, files))
}

// mustGather runs must-gather as the administrator. It makes a namespace and a role for its pod, and removes both.
func (c *controller) mustGather(ctx context.Context, folder string) error {
	if c.Runner == nil {
		return fmt.Errorf("run must-gather: there is no program oc")
	}
	ctx, cancel := context.WithTimeout(ctx, gatherLimit)
	defer cancel()
	args := []string{"adm", "must-gather", "--dest-dir", folder}
	for _, image := range gatherImages(c.MustGatherImages, c.failedOperators(ctx)) {
		args = append(args, "--image", image)
	}
	if _, err := c.oc(ctx, args...); err != nil {
		return fmt.Errorf("run must-gather: %w", err)
	}
	return nil
}

// gatherImages lists the platform's image and the images of operators that failed; given is one image or a JSON object.
func gatherImages(given string, failed []string) []string {
	var byOperator map[string]string
	if json.Unmarshal([]byte(given), &byOperator) != nil {
		byOperator = map[string]string{gatherPlatform: given}
	}
	var images []string
	for _, name := range append([]string{gatherPlatform}, failed...) {
		if image := cmp.Or(byOperator[name], byOperator[gatherNames[name]]); image != "" && !slices.Contains(images, image) {
			images = append(images, image)
		}
	}
	return images
}

func (c *controller) failedOperators(ctx context.Context) []string {
	monitored, err := c.Service.MonitoredOperators(ctx, c.ClusterID)
	c.note(ctx, "list operators for must-gather", err)
	var names []string
	for _, o := range monitored {
		if o.OperatorType == wire.Olm && o.Status != wire.OperatorStatus(model.OperatorAvailable) {
			names = append(names, o.Name)
		}
	}
	return names
}

// podsInTrouble lists all pods and adds the ends of the logs of pods that do not run.
func (c *controller) podsInTrouble(ctx context.Context, files *archive) string {
	pods, err := c.kube.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err.Error() + "\n"
	}
	var table strings.Builder
	left := podLogs
	for i := range pods.Items {
		pod := &pods.Items[i]
		fmt.Fprintf(&table, "%s\t%s\t%s\t%s\n", pod.Namespace, pod.Name, pod.Status.Phase, pod.Spec.NodeName)
		if healthy(pod) {
			continue
		}
		for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
			if left--; left < 0 {
				break
			}
			log, err := c.podLog(ctx, pod, container.Name)
			if err != nil {
				log = []byte(err.Error() + "\n")
			}
			files.text(fmt.Sprintf("pods/%s/%s/%s.log", pod.Namespace, pod.Name, container.Name), string(log))
		}
	}
	return table.String()
}

func healthy(pod *corev1.Pod) bool {
	if pod.Status.Phase == corev1.PodSucceeded {
		return true
	}
	return pod.Status.Phase == corev1.PodRunning && !slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		return !s.Ready
	})
}

func (c *controller) podLog(ctx context.Context, pod *corev1.Pod, container string) ([]byte, error) {
	log, err := c.kube.CoreV1().Pods(pod.Namespace).
		GetLogs(pod.Name, &corev1.PodLogOptions{Container: container, LimitBytes: new(podLogTail)}).Stream(ctx)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	return io.ReadAll(io.LimitReader(log, podLogTail))
}

// tree adds the files of a folder below name, until they are of limit bytes.
func (a *archive) tree(name, folder string, limit int64) error {
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if limit -= info.Size(); limit < 0 {
			return fs.SkipAll
		}
		below, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		return a.add(filepath.Join(name, below), info.Size(), file)
	})
}
