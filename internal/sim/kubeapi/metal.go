package kubeapi

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// Names of the bare metal operator (metal3-io/baremetal-operator, apis/metal3.io/v1alpha1).
const (
	MachineNamespace   = "openshift-machine-api"
	pausedAnnotation   = "baremetalhost.metal3.io/paused"
	hardwareAnnotation = "baremetalhost.metal3.io/status"
)

var (
	metalHosts    = schema.GroupVersionResource{Group: "metal3.io", Version: "v1alpha1", Resource: "baremetalhosts"}
	provisionings = schema.GroupVersionResource{Group: "metal3.io", Version: "v1alpha1", Resource: "provisionings"}
	machineSets   = schema.GroupVersionResource{Group: "machine.openshift.io", Version: "v1beta1", Resource: "machinesets"}
	metalMachines = schema.GroupVersionResource{Group: "machine.openshift.io", Version: "v1beta1", Resource: "machines"}
)

// MetalWorld is the machine API of a cluster on bare metal.
type MetalWorld struct {
	// Workers is how many Machines exist for workers outside of MachineSets. Late is how long after the start they
	// are made: the controller of MachineSets runs on a master.
	Workers int
	Late    time.Duration
	// Poll is the time between two looks at the API; 500 ms if zero.
	Poll time.Duration
	// Now is the clock; time.Now if nil.
	Now func() time.Time
}

// RunMetal plays the bare metal operator, the machine controller and its actuator. The operator leaves paused hosts
// alone, takes the status of the annotation only while there is none and only with a Provisioning object, and writes
// often: others lose races with it. A Machine gets its host from consumerRef, and runs once the host has hardware
// (openshift/cluster-api-provider-baremetal, pkg/cloud/baremetal/actuators/machine). It ends with ctx.
func RunMetal(ctx context.Context, apiURL string, w MetalWorld) error {
	if w.Poll <= 0 {
		w.Poll = defaultPoll
	}
	if w.Now == nil {
		w.Now = time.Now
	}
	objects, err := dynamic.NewForConfig(Config(apiURL, UserAdmin))
	if err != nil {
		return fmt.Errorf("make client of the machine API: %w", err)
	}
	m := &metal{MetalWorld: w, objects: objects, began: w.Now()}
	return poll(ctx, w.Poll, func(ctx context.Context) (bool, error) { return false, m.step(ctx) })
}

type metal struct {
	MetalWorld
	objects dynamic.Interface
	began   time.Time
	writes  int64
}

func (m *metal) step(ctx context.Context) error {
	if m.Now().Sub(m.began) >= m.Late {
		if err := m.makeMachines(ctx); err != nil {
			return err
		}
	}
	configured, err := m.objects.Resource(provisionings).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	hosts, err := m.objects.Resource(metalHosts).Namespace(MachineNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range hosts.Items {
		host := &hosts.Items[i]
		if len(configured.Items) > 0 {
			if err := m.reconcile(ctx, host); err != nil && !apierrors.IsConflict(err) {
				return err
			}
		}
		if err := m.link(ctx, host); err != nil && !apierrors.IsConflict(err) {
			return err
		}
	}
	return nil
}

func (m *metal) makeMachines(ctx context.Context) error {
	workers := int64(m.Workers)
	sets, err := m.objects.Resource(machineSets).Namespace(MachineNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range sets.Items {
		replicas, _, _ := unstructured.NestedInt64(sets.Items[i].Object, "spec", "replicas")
		workers += replicas
	}
	for i := range workers {
		machine := newObject(metalMachines, "Machine", fmt.Sprintf("test-worker-0-%d", i))
		machine.SetLabels(map[string]string{"machine.openshift.io/cluster-api-machine-role": "worker"})
		_, err := m.objects.Resource(metalMachines).Namespace(MachineNamespace).Create(ctx, machine, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}

// reconcile runs one round of the operator for a host.
func (m *metal) reconcile(ctx context.Context, host *unstructured.Unstructured) error {
	hosts := m.objects.Resource(metalHosts).Namespace(MachineNamespace)
	if _, paused := host.GetAnnotations()[pausedAnnotation]; paused {
		return nil
	}
	status, _, _ := unstructured.NestedMap(host.Object, "status")
	if text, described := host.GetAnnotations()[hardwareAnnotation]; described {
		if len(status) == 0 {
			if err := json.Unmarshal([]byte(text), &status); err != nil {
				return err
			}
			host.Object["status"] = status
			written, err := hosts.UpdateStatus(ctx, host, metav1.UpdateOptions{})
			if err != nil {
				return err
			}
			host = written
		}
		annotations := host.GetAnnotations()
		delete(annotations, hardwareAnnotation)
		host.SetAnnotations(annotations)
		written, err := hosts.Update(ctx, host, metav1.UpdateOptions{})
		if err != nil {
			return err
		}
		host = written
	}
	if external, _, _ := unstructured.NestedBool(host.Object, "spec", "externallyProvisioned"); external {
		if err := unstructured.SetNestedField(host.Object, "unmanaged", "status", "provisioning", "state"); err != nil {
			return err
		}
	}
	m.writes++
	if err := unstructured.SetNestedField(host.Object, m.writes, "status", "errorCount"); err != nil {
		return err
	}
	_, err := hosts.UpdateStatus(ctx, host, metav1.UpdateOptions{})
	return err
}

// link gives the Machine that a host refers to its phase.
func (m *metal) link(ctx context.Context, host *unstructured.Unstructured) error {
	name, _, _ := unstructured.NestedString(host.Object, "spec", "consumerRef", "name")
	if name == "" {
		return nil
	}
	machines := m.objects.Resource(metalMachines).Namespace(MachineNamespace)
	machine, err := machines.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	phase := "Provisioned"
	if _, inspected, _ := unstructured.NestedMap(host.Object, "status", "hardware"); inspected {
		phase = "Running"
	}
	if before, _, _ := unstructured.NestedString(machine.Object, "status", "phase"); before == phase {
		return nil
	}
	machine.Object["status"] = map[string]any{"phase": phase}
	_, err = machines.UpdateStatus(ctx, machine, metav1.UpdateOptions{})
	return err
}
