package service

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/go-chi/chi/v5"
	"go.temporal.io/sdk/client"

	"slipway/activities"
	"slipway/api"
	"slipway/api/admission"
	"slipway/internal/app/process"
	"slipway/internal/app/settings"
	"slipway/internal/cluster/answers"
	"slipway/internal/cluster/openshift"
	"slipway/internal/images/imageurl"
	"slipway/internal/images/release"
	"slipway/internal/platform/blob"
	"slipway/internal/platform/encryption"
	"slipway/internal/platform/frontend"
	"slipway/internal/platform/metrics"
	"slipway/internal/platform/store"
	"slipway/internal/service/discovery"
	"slipway/internal/service/evaluation"
	"slipway/internal/service/orchestrator"
	"slipway/internal/service/quota"
	"slipway/internal/service/reports"
	"slipway/internal/service/rotation"
	"slipway/internal/version"
	"slipway/worker"

	_ "gocloud.dev/blob/fileblob" // file:// addresses
	_ "gocloud.dev/blob/s3blob"   // s3:// addresses
)

// stores are where the service keeps its data.
type stores struct {
	sealer *encryption.Keys
	store  *store.Store
	blobs  *blob.Store
}

// parts are the components that work on it, the same in every role.
type parts struct {
	timeouts activities.Timeouts
	limits   admission.Limits
	quota    *quota.Quota
	// keptOfInfraEnv and keptOfTenant are limits of the quota.
	keptOfInfraEnv, keptOfTenant int64
	releases                     *release.Releases
	offers                       offers
	deployment                   deployment
	variables                    settings.Variables
	requirements                 *openshift.Requirements
	signals                      *store.Signals
	changes                      *store.Feed
	discovery                    *discovery.Service
	evaluation                   *evaluation.Evaluator
	reports                      reports.Clusters
	orchestrator                 *orchestrator.Orchestrator
}

// openStores opens them; the database has been migrated.
func (s *Service) openStores(ctx context.Context) error {
	if err := os.MkdirAll(s.options.DataDir, 0o711); err != nil {
		return fmt.Errorf("create data folder: %w", err)
	}
	var err error
	if err := s.openKeys(ctx); err != nil {
		return err
	}
	s.background("keys", s.readKeys)
	s.store, err = store.Open(ctx, store.Options{
		URL: s.DatabaseURL, Sealer: s.sealer, Now: s.process.Now, Observe: s.recorder.Events,
		Rendering: store.Rendering{Form: answers.KeptForm, Host: answers.KeepHost, Cluster: answers.KeepCluster},
	})
	if err != nil {
		return err
	}
	if err := s.checkIdentity(ctx); err != nil {
		s.store.Close()
		return err
	}
	s.registry.MustRegister(metrics.NewState(s.store, s.options.DataDir, s.process.Now))
	s.Shutdown.Add("store", time.Second, func(context.Context) error { s.store.Close(); return nil })
	s.checks = append(s.checks, process.Check{Name: "database", Ask: s.store.Ping})
	if s.blobs, err = blob.Open(ctx, settings.BlobAddress(s.options.BlobURL, s.options.DataDir), s.sealer); err != nil {
		return fmt.Errorf("open files of the service: %w", err)
	}
	s.blobs.LockWith(s.store.LockObject)
	s.Shutdown.Add("files", time.Second, func(context.Context) error { return s.blobs.Close() })
	return nil
}

// sealPayloads encrypts what workflows and activities are given.
func (s *Service) sealPayloads(o *client.Options) {
	o.DataConverter, o.FailureConverter = orchestrator.Converters(s.sealer)
}

// assemble makes the parts; Temporal is connected.
func (s *Service) assemble(ctx context.Context) error {
	opts := s.deployment.releases
	opts.PlainHTTP, opts.Architecture, opts.Now = s.options.InsecureRegistry, runtime.GOARCH, s.process.Now
	outbound, err := s.outbound(opts)
	if err != nil {
		return err
	}
	opts.Dial, opts.Proxy = outbound.DialContext, outbound.Proxy(http.ProxyFromEnvironment)
	if err := s.chooseUsers(&opts, s.deployment.installerIDs, leases); err != nil {
		return err
	}
	s.releases, err = release.Open(filepath.Join(s.options.DataDir, "releases"), opts)
	if err != nil {
		return err
	}
	s.Shutdown.Add("releases", time.Second, func(context.Context) error { s.releases.Close(); return nil })
	if err := s.checkSandbox(ctx, opts.Sandbox); err != nil {
		return err
	}
	s.signals = store.NewSignals(s.store, s.logger)
	s.changes = store.NewFeed(s.store, s.logger)
	agent, err := s.agentRelease()
	if err != nil {
		return err
	}
	s.evaluation = evaluation.New(evaluation.Options{
		Store: s.store, Signals: s.signals, Log: s.logger, Now: s.process.Now, Meter: s.recorder,
		Requirements: s.requirements.For, Timeouts: s.timeouts.Timeouts, Rules: s.rules(),
		AgentImage: s.variables.ForeignAgent(), AgentVersion: agent.version, DisabledSteps: s.variables.DisabledSteps,
		SweepEvery: s.variables.HostMonitor, LookEvery: s.variables.ClusterMonitor,
	})
	s.quota = quota.New(quota.Options{
		Store: s.store, InfraEnv: s.keptOfInfraEnv, Tenant: s.keptOfTenant, Log: s.logger, Now: s.process.Now,
	})
	s.discovery = discovery.New(discovery.Options{
		Store: s.store, Evaluation: s.evaluation, Signals: s.signals, Log: s.logger, Now: s.process.Now, Meter: s.recorder,
		Timeouts: s.timeouts.Timeouts, AgentImage: s.variables.ForeignAgent(), AgentPrograms: agent.programs,
		MaxInventoryBytes: s.variables.InventoryBytes, KeepVirtualNICs: s.variables.VirtualNICs, MaxHosts: int(s.options.MaxHosts),
		NewHosts: int(s.options.NewHosts), Quota: s.quota, Signer: s.programSigner(),
	})
	s.reports = reports.Clusters{Store: s.store, Blob: s.blobs, Silence: s.timeouts.Completion}
	data, _ := orchestrator.Converters(s.sealer)
	s.orchestrator = orchestrator.New(orchestrator.Options{
		Temporal: s.client, Namespace: s.Temporal.Options.Namespace, Store: s.store, Signals: s.signals,
		Acceptance: orchestrator.Acceptance{Store: s.store, Evaluation: s.evaluation}, Milestones: s.reports,
		Timeouts: s.timeouts, Converter: data, Log: s.logger,
	})
	s.background("notifications", s.signals.Run)
	s.background("changes", s.changes.Run)
	s.background("texts of lists", s.keepTexts)
	s.background("orchestrator", s.orchestrator.Run)
	return nil
}

// background runs work until the shutdown reaches it, and waits for it to end there.
func (s *Service) background(name string, work func(context.Context)) {
	s.Shutdown.Background(name, work)
}

// CheckSettings returns what a start would end with that the settings alone decide. It opens and makes nothing.
func (s *Service) CheckSettings(listen string) error {
	if err := s.readSettings(); err != nil {
		return err
	}
	_, err := namesOf(listen, "")
	return err
}

// readSettings reads what a flag's type does not check, before anything is started.
func (s *Service) readSettings() (err error) {
	if s.variables, err = settings.ReadVariables(s.process.Env); err != nil {
		return err
	}
	settings.WarnWithoutEffect(s.process.Env, s.logger)
	if err := s.options.CheckDurations(); err != nil {
		return err
	}
	if s.keptOfInfraEnv, s.keptOfTenant, err = s.options.KeptBytes(); err != nil {
		return err
	}
	if s.limits, err = s.options.Limits(); err != nil {
		return err
	}
	if given := s.options.Retention; given != nil {
		if err := frontend.CheckRetention(*given); err != nil {
			return fmt.Errorf("read --workflow-retention: %w", err)
		}
	}
	if id := s.options.BuildID; id != "" {
		if err := version.CheckBuildID(id); err != nil {
			return fmt.Errorf("read WORKER_BUILD_ID: %w", err)
		}
	}
	s.timeouts = activities.Timeouts{Timeouts: s.variables.Timeouts, Decision: s.options.DecisionTimeout, Heartbeat: s.options.Heartbeat}
	if s.requirements = openshift.DefaultRequirements(); s.options.Requirements != "" {
		if s.requirements, err = openshift.ParseRequirements([]byte(s.options.Requirements)); err != nil {
			return fmt.Errorf("read HW_VALIDATOR_REQUIREMENTS: %w", err)
		}
	}
	if s.offers, err = readReleases(s.options.Releases, s.options.DataDir); err != nil {
		return err
	}
	s.deployment, err = readDeployment(s.options.Deployment, fipsFile)
	return err
}

// StartWorker runs workflows and activities in this process.
func (s *Service) StartWorker(ctx context.Context) error {
	programs, err := s.controllerPrograms(ctx)
	if err != nil {
		return err
	}
	versions := worker.NewVersions(s.client, s.buildID(), s.logger, s.process.Now)
	if err := versions.Check(ctx); err != nil {
		return err
	}
	w := worker.New(s.client, worker.Dependencies{
		Clusters: &activities.Clusters{
			Store: s.store, Blob: s.blobs, Evaluation: s.evaluation, Timeouts: s.timeouts, CheckClusterVersion: s.variables.CheckClusterVersion,
		},
		Hosts: &activities.Hosts{Store: s.store, Evaluation: s.evaluation, Progress: s.progress(), Timeouts: s.timeouts},
		Steps: &activities.Steps{
			Store: s.store, Reports: s.reports, Progress: s.progress(),
			Builder: &activities.StepArgs{
				Store: s.store, Releases: s.releases, Timeouts: s.timeouts,
				InstallerImage: s.variables.InstallerImage, ControllerImage: s.variables.ControllerImage, ControllerPrograms: programs,
				MustGatherImages: s.variables.MustGatherImages,
				Dummy:            s.variables.DummyIgnition,
				Disabled:         s.variables.DisabledSteps, CheckClusterVersion: s.variables.CheckClusterVersion,
				KeepMCOReboot: !s.variables.SkipMCOReboot, ControllerToken: s.identity.ControllerToken,
				BootArtifacts: imageurl.New(imageurl.Options{
					Identity: s.identity, Releases: s.offers.catalogue, BaseURL: s.options.BaseURL, ImageServiceURL: s.options.ImageServiceURL,
				}).BootArtifacts,
			},
		},
		Files: &activities.Files{
			Store: s.store, Blob: s.blobs, Releases: s.releases,
			Manifests: s.deployment.manifests, InstallConfig: s.deployment.installConfig, Dummy: s.variables.DummyIgnition,
			ControllerImage: s.variables.ControllerImage, ControllerPrograms: programs, ServiceCA: s.serviceCA,
		},
		Housekeeping: &activities.Housekeeping{Store: s.store, Blob: s.blobs, Running: s.orchestrator.Running},
		Control:      &activities.Control{Store: s.store, Commands: s.orchestrator, Workflows: s.orchestrator},
	}, versions.Build)
	if err := w.Start(); err != nil {
		return fmt.Errorf("start worker: %w", err)
	}
	s.Shutdown.Add("worker", workerGrace, func(context.Context) error { w.Stop(); return nil })
	s.background("worker versions", versions.Run)
	rotation := &rotation.Rotation{Keys: s.sealer, Tables: s.store, Files: s.blobs, Temporal: temporalKeys{s}, Log: s.logger}
	if err := s.orchestrator.KeepHouse(ctx, s.housekeeping()); err != nil {
		return err
	}
	s.background("key rotation", rotation.Run)
	return nil
}

// buildID returns the version of this worker.
func (s *Service) buildID() string {
	if s.options.BuildID != "" {
		return s.options.BuildID
	}
	return version.Read().BuildID()
}

// progress records what is reported about the installation of hosts.
func (s *Service) progress() reports.Hosts {
	return reports.Hosts{Store: s.store, Timeouts: s.timeouts.Timeouts}
}

// workerGrace is more than the worker gives activities to end.
const workerGrace = 6 * time.Second

// api returns the router of the facade. Rules run in the process that serves it.
func (s *Service) api(context.Context) (chi.Router, error) {
	s.background("evaluation", s.evaluation.Run)
	if err := s.readReleaseSources(); err != nil {
		return nil, err
	}
	binaries, err := s.agentFolder()
	if err != nil {
		return nil, err
	}
	images, err := s.openImages()
	if err != nil {
		return nil, err
	}
	options := api.Options{
		Service: api.Service{
			Store: s.store, Blob: s.blobs, Discovery: s.discovery, Evaluation: s.evaluation,
			HostReports: s.progress(), ClusterReports: s.reports, Orchestrator: s.orchestrator,
			Disconnected: s.releases, Identity: s.identity, Feed: s.changes, Log: s.logger, Now: s.process.Now,
			Observe: s.recorder.Request, Limits: &s.limits, Quota: s.quota,
		},
		Catalogue: api.Catalogue{
			Releases: s.offers.catalogue, ReleaseSources: s.offers.sources, AnyReleaseImage: s.options.AnyReleaseImage,
			OSImages: images.Offered, Domains: s.offers.domains, Requirements: s.requirements,
			PublicRegistries: s.variables.PublicRegistries, Mirrors: s.deployment.releases.Mirrored,
		},
		Deployment: api.Deployment{
			BaseURL: s.options.BaseURL, ServiceCA: s.serviceCA, ImageServiceURL: s.options.ImageServiceURL, BootURL: s.bootURL,
			InstallConfig: s.deployment.installConfig, Ignition: s.deployment.discovery,
			Version: version.Read().Short(), ComponentVersions: s.components(),
			AgentVersion: agentVersion(), ForeignAgent: s.variables.ForeignAgent(), AgentBinaries: binaries,
			ProgramKey: s.programSigner().PublicKey,
			SigningKey: s.sealer.Derive(signingPurpose), InactiveAfter: s.variables.InactiveAfter, DeletedAfter: s.variables.DeletedAfter,
		},
	}
	if s.signIn != nil {
		options.SignIn = s.signIn
	}
	handler := api.NewServer(options)
	router := chi.NewRouter()
	s.serveImages(router, images, handler)
	router.Mount("/", handler)
	return router, nil
}
