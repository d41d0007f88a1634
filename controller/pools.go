package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var machineConfigPools = schema.GroupVersionResource{
	Group: "machineconfiguration.openshift.io", Version: "v1", Resource: "machineconfigpools",
}

// observePool reads the pool of workers where some host has a pool of its own; nil where there is none yet.
func (c *controller) observePool(ctx context.Context, hosts []Host) (*Pool, error) {
	if !slices.ContainsFunc(hosts, inOwnPool) {
		return nil, nil
	}
	pool, err := c.dynamic.Resource(machineConfigPools).Get(ctx, workerPool, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the pool of workers: %w", err)
	}
	paused, _, _ := unstructured.NestedBool(pool.Object, "spec", "paused")
	return &Pool{Paused: paused, Held: paused && pool.GetAnnotations()[heldAnnotation] != ""}, nil
}

func (a PausePool) do(ctx context.Context, c *controller) error {
	var mark any // null removes it
	if a.Pause {
		mark = "true"
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{heldAnnotation: mark}},
		"spec":     map[string]any{"paused": a.Pause},
	})
	if err != nil {
		return fmt.Errorf("write the patch of the pool of workers: %w", err)
	}
	pools := c.dynamic.Resource(machineConfigPools)
	if _, err := pools.Patch(ctx, workerPool, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("pause the pool of workers (%t): %w", a.Pause, err)
	}
	c.Log.InfoContext(ctx, "pool of workers paused or resumed", "paused", a.Pause)
	return nil
}

// resumePool resumes a pool that the controller paused, when the installation ends, however it ends.
func (c *controller) resumePool(ctx context.Context, hosts []Host) error {
	pool, err := c.observePool(ctx, hosts)
	if err != nil || pool == nil || !pool.Held {
		return err
	}
	return PausePool{}.do(ctx, c)
}
