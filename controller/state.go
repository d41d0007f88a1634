package controller

import (
	"encoding/json"
	"net/netip"
	"strings"
	"time"

	"github.com/google/uuid"
	batchv1 "k8s.io/api/batch/v1"
	certv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"slipway/internal/cluster/openshift"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// State holds the findings of one round: the facts Plan works on.
type State struct {
	Cluster Cluster
	Nodes   []corev1.Node
	CSRs    []certv1.CertificateSigningRequest
	// Outdated: the service does not answer, and hosts may be further than Cluster says.
	Outdated bool
	// Announced: the event by which the bootstrap host recognises the controller exists.
	Announced bool

	// Metal is the state that the platform baremetal has of its hosts; nil on other platforms and before its kinds exist.
	Metal *Metal
	// WorkerPool is the pool of workers where hosts have pools of their own; nil else.
	WorkerPool *Pool
	// Fetched are the addresses that fetched their Ignition, with the last time; read while a host may have rebooted.
	Fetched map[netip.Addr]time.Time
	// Services are the cluster's, until its DNS has a service.
	Services []corev1.Service
	// CountReboots: the user wants to see how often nodes booted. RebootTries are the tries of this controller.
	CountReboots bool
	RebootTries  map[string]int

	// UnpackJobs and InstallPlans are read while operators of OLM do not appear.
	UnpackJobs   []batchv1.Job
	InstallPlans []unstructured.Unstructured

	// SetupJobs set operators up; read in the stage that waits for them.
	SetupJobs []batchv1.Job

	// Monitored are the operators the service waits for and what it knows of them; with
	// the next two it is read in the finalizing state alone.
	Monitored []wire.MonitoredOperator
	// Operators are the same operators as they are in the cluster, by name; one that
	// does not exist is missing.
	Operators map[string]Operator
	// IngressCA holds the certificates (PEM) that signed the router's; empty until they exist.
	IngressCA string

	// CheckClusterVersion also waits for the operator cvo.
	CheckClusterVersion bool
	// LogsDue: it is time to send logs.
	LogsDue bool
	// LastLogsSent and Completed record what this process did since the cluster got its status; both are
	// repeated after a restart, which the service accepts.
	LastLogsSent, Completed bool
}

// Cluster is the cluster as the service has it.
type Cluster struct {
	Status model.ClusterStatus
	Stage  model.FinalizingStage
	// StageTimedOut: the service gave up waiting for the present finalizing stage.
	StageTimedOut bool
	Hosts         []Host
	// Platform is named as in the v2 API: baremetal, none, vsphere, nutanix, external.
	Platform string
	// WithoutCloud: nodes wait for a cloud that the cluster cannot reach.
	WithoutCloud    bool
	ServiceNetworks []netip.Prefix
	// VIPs are the virtual addresses of API and ingress.
	VIPs []netip.Addr
}

// Host is a host as the service has it.
type Host struct {
	ID, InfraEnvID uuid.UUID
	// Name is its host name in lower case, as the kubelet uses it.
	Name string
	// Addresses are all addresses of its inventory.
	Addresses []netip.Addr
	Status    model.HostStatus
	Stage     model.Stage
	// StageSince is when the stage began.
	StageSince time.Time
	// Labels are the labels the user wants on its node.
	Labels map[string]string
	// Pool is the MachineConfigPool the user wants the host in; empty: the pool of its role.
	Pool string
}

// Operator is the state of an operator in the cluster.
type Operator struct {
	Status model.OperatorStatus
	// Info is the operator's own sentence about it.
	Info    string
	Version string
}

// ClusterOf reads what the controller needs from the service's reply. Inventories and labels that cannot be
// read count as empty.
func ClusterOf(c *wire.Cluster) Cluster {
	cluster := Cluster{
		Status:        model.ClusterStatus(c.Status),
		Stage:         model.FinalizingStage(c.Progress.FinalizingStage),
		StageTimedOut: c.Progress.FinalizingStageTimedOut,
		Hosts:         make([]Host, 0, len(c.Hosts)),
		Platform:      string(c.Platform.Type),
		WithoutCloud:  openshift.WithoutCloud(string(c.Platform.Type), c.InstallConfigOverrides),
	}
	for _, n := range c.ServiceNetworks {
		if prefix, err := netip.ParsePrefix(n.Cidr); err == nil {
			cluster.ServiceNetworks = append(cluster.ServiceNetworks, prefix)
		}
	}
	for _, vip := range c.APIVips {
		cluster.addVIP(vip.IP)
	}
	for _, vip := range c.IngressVips {
		cluster.addVIP(vip.IP)
	}
	for i := range c.Hosts {
		cluster.Hosts = append(cluster.Hosts, hostOf(&c.Hosts[i]))
	}
	return cluster
}

func (c *Cluster) addVIP(text string) {
	if address, err := netip.ParseAddr(text); err == nil {
		c.VIPs = append(c.VIPs, address)
	}
}

func hostOf(h *wire.Host) Host {
	var inventory wire.Inventory
	if json.Unmarshal([]byte(h.Inventory), &inventory) != nil {
		inventory = wire.Inventory{}
	}
	host := Host{
		ID: h.ID, InfraEnvID: h.InfraEnvID, Name: h.RequestedHostname,
		Status: model.HostStatus(h.Status), Stage: model.Stage(h.Progress.CurrentStage),
		StageSince: h.Progress.StageStartedAt.Time(), Pool: h.MachineConfigPoolName,
	}
	if host.Name == "" {
		host.Name = inventory.Hostname
	}
	host.Name = strings.ToLower(host.Name)
	for _, nic := range inventory.Interfaces {
		for _, cidr := range append(nic.Ipv4Addresses, nic.Ipv6Addresses...) {
			if prefix, err := netip.ParsePrefix(cidr); err == nil {
				host.Addresses = append(host.Addresses, prefix.Addr())
			}
		}
	}
	if json.Unmarshal([]byte(h.NodeLabels), &host.Labels) != nil {
		host.Labels = nil
	}
	return host
}
