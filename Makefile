# Slipway. `make demo` and `make test` set up what they need on a fresh Debian machine
# with Go and root; everything else builds on them.

GO       ?= go
CACHE    ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/slipway
TOOLS_DIR := $(CACHE)/tools
LDFLAGS  := -s -w
NICE     := nice

# The same for everything that is compiled: programs hold no path of the machine that built them, another clone uses what was
# compiled in this one, and nothing is compiled twice.
export GOFLAGS := $(strip $(filter-out -trimpath,$(GOFLAGS)) -trimpath)
# Programs are static: they run on every distribution, and in images that hold nothing else. Only the race detector needs cgo.
export CGO_ENABLED := 0

# One version a tool; a tool is built once into the cache, under its version, and under a
# digest of what is ours in it: a clone's files are new, and need no other tool.
digest = $(shell cat $(1) | sha256sum | cut -c1-10)
GOLANGCI_VERSION      := v2.14.0
GOFUMPT_VERSION       := v0.12.0
DEADCODE_VERSION      := v0.49.0
WORKFLOWCHECK_VERSION := v0.6.0
D2_VERSION            := v0.7.1
GOVULNCHECK_VERSION   := v1.9.0
# The newest whose modules can all be fetched from a module proxy.
NFPM_VERSION          := v2.45.2
HELM_VERSION          := v3.22.0
CYCLONEDX_VERSION     := v1.10.0
VERSITYGW_VERSION     := v1.8.0
PEBBLE_VERSION        := v2.10.3

# The newest that the Go of go.mod builds.
TEMPORAL_CLI_VERSION  := v1.5.1

SCHEMATHESIS_VERSION  := 4.32.5
HYPOTHESIS_VERSION    := 6.170.15

# A client that others wrote, and the client generated from the contract that it is made with.
AICLI_VERSION            := 99.0.202609281010
ASSISTED_CLIENT_VERSION  := 2.56.0.post94

GOLANGCI      := $(TOOLS_DIR)/golangci-lint-$(GOLANGCI_VERSION)/golangci-lint
GOFUMPT       := $(TOOLS_DIR)/gofumpt-$(GOFUMPT_VERSION)/gofumpt
DEADCODE      := $(TOOLS_DIR)/deadcode-$(DEADCODE_VERSION)/deadcode
WORKFLOWCHECK := $(TOOLS_DIR)/workflowcheck-$(WORKFLOWCHECK_VERSION)/workflowcheck
D2            := $(TOOLS_DIR)/d2-$(D2_VERSION)/d2
CYCLONEDX     := $(TOOLS_DIR)/cyclonedx-gomod-$(CYCLONEDX_VERSION)/cyclonedx-gomod
NFPM          := $(TOOLS_DIR)/nfpm-$(NFPM_VERSION)/nfpm
HELM          := $(TOOLS_DIR)/helm-$(HELM_VERSION)/helm
GOVULNCHECK   := $(TOOLS_DIR)/govulncheck-$(GOVULNCHECK_VERSION)/govulncheck

# The library that works a browser, which is Debian's Chromium: no browser is downloaded. Its version is in package.json.
PLAYWRIGHT    := $(TOOLS_DIR)/playwright-$(call digest,test/temporal/package-lock.json)

# The ACME server that Let's Encrypt tests clients with, and its DNS server.
PEBBLE        := $(TOOLS_DIR)/pebble-$(PEBBLE_VERSION)/pebble

# An issuer of OpenID Connect that is not ours.
OIDC_PROVIDER := $(TOOLS_DIR)/oidc-provider-$(call digest,test/issuer/package-lock.json)

TEMPORAL_CLI  := $(TOOLS_DIR)/temporal-cli-$(TEMPORAL_CLI_VERSION)/temporal

# Temporal's server and its tool for schemas, of the version that is bundled: go.mod has it.
TEMPORAL_SERVER := $(TOOLS_DIR)/temporal-server-$(call digest,go.mod)/temporal-server

# An object store over a folder, which checks signatures as S3 does.
S3_SERVER     := $(TOOLS_DIR)/versitygw-$(VERSITYGW_VERSION)/versitygw

# The API server of Kubernetes, with Debian's etcd.
KUBE          := $(TOOLS_DIR)/kube-$(call digest,test/bench/kube/go.sum deploy/debian-etcd)

SCHEMATHESIS  := $(TOOLS_DIR)/schemathesis-$(SCHEMATHESIS_VERSION)-$(HYPOTHESIS_VERSION)/bin/st

AICLI         := $(TOOLS_DIR)/aicli-$(AICLI_VERSION)-$(ASSISTED_CLIENT_VERSION)/bin/aicli

# Debian's own, unpacked and not installed.
CONSOLE       := $(TOOLS_DIR)/console-$(call digest,$(addprefix test/clients/wizard/,package-lock.json index.html main.jsx vite.config.mjs))/dist
DEBIAN_TREE   := $(TOOLS_DIR)/debian-tree-$(call digest,deploy/debian-tree).tar
CONTAINER_TREE := $(TOOLS_DIR)/debian-containers-$(call digest,deploy/debian-tree).tar
IGNITION      := $(TOOLS_DIR)/ignition-debian-$(call digest,deploy/debian-ignition)/bin/ignition
NMCLI         := $(TOOLS_DIR)/nmcli-debian-$(call digest,deploy/debian-nmcli)/bin/nmcli

# The real nmstate, in a tool of ours and as the program that hosts have: its version is in
# test/nmstate/oracle/Cargo.toml as well.
NMSTATE_VERSION := 2.2.62
NMSTATE_ORACLE  := $(TOOLS_DIR)/nmstate-oracle-$(NMSTATE_VERSION)-$(call digest,test/nmstate/oracle/Cargo.lock test/nmstate/oracle/src/main.rs)/bin/nmstate-oracle
NMSTATE_OLDEST  := $(TOOLS_DIR)/nmstate-oldest-2.2.39-$(call digest,test/nmstate/oldest/Cargo.lock test/nmstate/oracle/src/main.rs)/bin/nmstate-oldest
NMSTATECTL      := $(TOOLS_DIR)/nmstatectl-$(NMSTATE_VERSION)/bin/nmstatectl

# Where generate-clean keeps what was there before.
GENERATED := $(or $(TMPDIR),/tmp)/slipway-generated
GENERATED_FILES = api/api.gen.go internal/wire/wire.gen.go docs/reference/*.md docs/architecture.svg deploy/crds/*.yaml api/kube/*/zz_generated.deepcopy.go

# Packages that link the embedded Temporal server: never with -race, which would
# compile the server a second time.
ENGINE := slipway/internal/platform/engine slipway/internal/app slipway/cmd/slipway

.PHONY: fuzz record-histories help build programs foreign demo test test-race test-plain test-engine test-e2e test-docs test-clients test-twin test-conformance test-nmstate bench-image-vm bench-vm bench-kube bench-disks bench-netns bench-steps smoke-vm check generate bench clean deps

help: ## what there is to make
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

deps: ## install the Debian packages that demo and tests need
	@deploy/debian-packages

build: programs foreign ## all programs, in bin/: agent and controller for four architectures

programs: ## the four programs, for this machine
	@echo "building bin/slipway (the first build compiles the Temporal server: 4 to 10 minutes on 2 cores)"
	$(NICE) $(GO) build -ldflags '$(LDFLAGS)' -o bin/slipway ./cmd/slipway
	$(NICE) $(GO) build -ldflags '$(LDFLAGS)' -o bin/slipway-agent-$$($(GO) env GOARCH) ./cmd/slipway-agent
	$(NICE) $(GO) build -ldflags '$(LDFLAGS)' -o bin/slipway-controller-$$($(GO) env GOARCH) ./cmd/slipway-controller
	$(NICE) $(GO) build -ldflags '$(LDFLAGS)' -o bin/slipway-demo ./cmd/slipway-demo

# Hosts and new clusters of other architectures than this machine's get their programs from the service too. After
# the other programs, and with the lowest priority: nothing on this machine runs them.
FOREIGN = $(filter-out $(shell $(GO) env GOARCH),amd64 arm64 ppc64le s390x)
foreign: programs ## agent and controller for the other architectures
	@echo "building agent and controller for $(FOREIGN) (the first build compiles their standard library: minutes)"
	@date +%s > bin/.foreign
	$(foreach arch,$(FOREIGN),$(foreach program,slipway-agent slipway-controller,\
	  GOARCH=$(arch) nice -n 19 $(GO) build -ldflags '$(LDFLAGS)' -o bin/$(program)-$(arch) ./cmd/$(program) &&)) :
	@echo "agent and controller for $(FOREIGN) took $$(($$(date +%s) - $$(cat bin/.foreign))) s"; rm -f bin/.foreign

demo: deps programs ## install a five-host cluster and a single node on simulated machines
	bin/slipway-demo $(DEMO)

test: deps programs ## all tests
	@# What computes comes first. The end-to-end tests mostly wait for simulated machines: the others run beside them.
	@$(MAKE) --no-print-directory test-race test-plain test-engine run-nmstate
	@$(MAKE) --no-print-directory browser || echo 'Chromium, playwright-core or the console cannot be installed here: their tests are skipped'
	@$(MAKE) --no-print-directory -j3 --output-sync=target run-e2e run-documented run-outside

# Every package but those that link the Temporal server, and its tools with their place.
UNITS = $(GO) list ./... | grep -vxF $(foreach p,$(ENGINE),-e $(p)) | grep -v '^slipway/test/' | internal/testing/unraced/packages
WITH_TOOLS = IGNITION=$$(ls $(IGNITION) 2>/dev/null) PEBBLE=$$(ls -d $(dir $(PEBBLE)) 2>/dev/null) PATH="$(dir $(NMCLI)):$$PATH"

.PHONY: unit-tools
unit-tools:
	@$(MAKE) --no-print-directory $(NMCLI) || echo 'nmcli cannot be unpacked here: its checks are skipped'
	@$(MAKE) --no-print-directory $(IGNITION) || echo 'Ignition cannot be unpacked here: its checks are skipped'
	@$(MAKE) --no-print-directory $(PEBBLE) || echo 'Pebble cannot be built here: its tests are skipped'

test-race: export CGO_ENABLED := 1
test-race: unit-tools ## packages that share memory between goroutines, with the race detector
	@# make check vets. Some packages wait more than they compute.
	$(WITH_TOOLS) $(NICE) $(GO) test -race -vet=off -p 3 -timeout 60m $$($(UNITS) raced)

test-plain: unit-tools ## the other packages, and dear tests of one goroutine, without the race detector
	$(WITH_TOOLS) $(NICE) $(GO) test -vet=off -p 3 -timeout 60m $$($(UNITS) plain)
	@$(UNITS) tests | while read -r package tests; do \
	  $(WITH_TOOLS) $(NICE) $(GO) test -vet=off -timeout 60m -run "$$tests" $$package </dev/null || exit 1; done
	@$(GO) test -vet=off -count=1 -run '^TestEveryValidationIDIsCovered$$' -v ./internal/cluster/validation | grep '^validation ids covered'

test-engine: unit-tools ## the packages that link the Temporal server
	$(WITH_TOOLS) $(NICE) $(GO) test -vet=off -timeout 60m $(ENGINE)

test-e2e: programs ## end to end, with the built binary
	@$(MAKE) --no-print-directory run-e2e

test-docs: programs ## what the documentation shows: the session with curl, the demo's scenarios
	@$(MAKE) --no-print-directory run-docs

test-clients: programs ## clients that others wrote for the v2 API, unmodified: aicli, the generated Python client, the console in a browser
	@$(MAKE) --no-print-directory browser || echo 'Chromium, playwright-core or the console cannot be installed here: its test is skipped'
	@$(MAKE) --no-print-directory run-clients

.PHONY: browser
browser:
	@deploy/browser-packages && $(MAKE) --no-print-directory $(PLAYWRIGHT)/node_modules $(CONSOLE)/index.html

.PHONY: test-temporal smoke-temporal run-temporal press-everything
press-everything: programs ## every button of Temporal at every fifth workflow task of every run (EVERY=n)
	$(NICE) $(GO) test -vet=off -timeout 3h -count=1 -v -run '^TestEverythingIsPressedEverywhere$$' ./test/e2e -args -every-task $(or $(EVERY),5)

test-temporal: programs ## Temporal in a user's hands: its web UI in a browser, and the lines of docs/temporal.md (RUN=regexp, SCREENSHOTS=folder)
	@$(MAKE) --no-print-directory run-temporal

smoke-temporal: programs ## the same, for a minute: one retry in the web UI, where Chromium can be had
	@$(MAKE) --no-print-directory run-smoke-temporal

.PHONY: attack sweep vuln reproducible smoke-reproducible sbom licences
vuln: $(GOVULNCHECK) ## known vulnerabilities in functions that programs contain; GOVULNDB=file:///FOLDER or module[@VERSION] names another list of them (PACKAGES)
	GOVULNCHECK=$(GOVULNCHECK) $(NICE) deploy/vulnerabilities $(or $(PACKAGES),./cmd/...)

reproducible: ## two builds of this commit, in two places and with two caches, are the same byte for byte (the second compiles everything: minutes)
	$(NICE) deploy/reproducible

smoke-reproducible: ## two builds of this commit in two places, which share what is compiled: what depends on the place differs (a minute)
	$(NICE) deploy/reproducible linked

packages: build $(NFPM) ## .deb and .rpm for a server, in dist/packages
	@NFPM=$(NFPM) deploy/packages/build

test-replicas: programs ## APIs and workers with a Temporal cluster of four processes over mutual TLS: a cluster is installed while each of them is killed
	@$(MAKE) --no-print-directory $(TEMPORAL_SERVER)
	TEMPORAL_SERVER=$(TEMPORAL_SERVER) $(NICE) $(GO) test -vet=off -timeout 60m -count=1 -v -run '^TestReplicas' ./test/e2e

# The newest released version, and its commit.
RELEASED = $(lastword $(shell sed -n 's/^\([0-9][^ ]*\) .*/\1/p' deploy/releases))
RELEASED_COMMIT = $(shell sed -n 's/^$(RELEASED) \([0-9a-f]*\) .*/\1/p' deploy/releases)
RELEASED_PROGRAMS = $(TOOLS_DIR)/slipway-$(RELEASED)
test-upgrade: programs ## the newest release installs clusters, and is replaced by this checkout meanwhile (RELEASED=0.2.0)
	@$(MAKE) --no-print-directory $(RELEASED_PROGRAMS)/bin/slipway
	RELEASE_PROGRAMS=$(RELEASED_PROGRAMS)/bin $(NICE) $(GO) test -vet=off -timeout 60m -count=1 -v -run '^TestUpgradeFromTheLastRelease$$' ./test/e2e

$(RELEASED_PROGRAMS)/bin/slipway:
	@echo "building slipway $(RELEASED) of $(RELEASED_COMMIT) into $(RELEASED_PROGRAMS)"
	@rm -rf $(RELEASED_PROGRAMS) && git clone --quiet --no-checkout . $(RELEASED_PROGRAMS)
	@git -C $(RELEASED_PROGRAMS) -c advice.detachedHead=false checkout --quiet $(RELEASED_COMMIT)
	@$(MAKE) --no-print-directory -C $(RELEASED_PROGRAMS) programs

test-s3: programs $(S3_SERVER) ## files and backups in an object store with the API of S3 that checks signatures: restored while a cluster is installed
	S3_SERVER=$(S3_SERVER) $(NICE) $(GO) test -vet=off -timeout 60m -count=1 -v -run '^TestFilesAndBackupsInBuckets$$' ./test/e2e

.PHONY: test-replicas test-s3 test-upgrade release
release: ## archives, packages, SBOM, notes and checksums of the version of this commit, in dist/release (ARCHES="amd64 arm64", SIGNING_KEY=key of GPG)
	@deploy/release

# Where Debian's packages are kept, and from which Debian they are taken: deploy/images/packages.lock.
IMAGE_ARCHITECTURES ?= amd64 arm64
IMAGE_LOCK          ?= deploy/images/packages.lock
IMAGES_FOLDER       ?= dist/images
IMAGES_OF_TESTS = $(MAKE) --no-print-directory images IMAGE_ARCHITECTURES=$$($(GO) env GOARCH) IMAGE_LOCK=dist/packages.lock
.PHONY: images images-lock
images: build ## container images of the service and of its replicas, for amd64 and arm64, in dist/images (each other architecture compiles the Temporal server once)
	$(foreach arch,$(IMAGE_ARCHITECTURES),GOARCH=$(arch) $(NICE) $(GO) build \
	  -ldflags '$(LDFLAGS)' -o bin/slipway-$(arch) ./cmd/slipway &&) :
	$(NICE) $(GO) run ./deploy/images -out $(IMAGES_FOLDER) -lock $(IMAGE_LOCK) -cache $(CACHE)/debian-packages \
	  -architectures '$(IMAGE_ARCHITECTURES)' -version "$$(bin/slipway version -o json | jq -r .build_id)" \
	  -revision $$(git rev-parse HEAD) -created $$(git log -1 --format=%ct)

images-lock: ## take the current packages of Debian for the images: deploy/images/packages.lock
	deploy/images/lock

# The images are made for this machine's architecture, twice. A mirror may have dropped a locked version of a package: then with the
# current ones.
test-deploy: packages ## put the packages on a Debian system of their own with systemd: install, upgrade while a cluster installs, purge; run the images
	@deploy/container-packages
	@$(MAKE) --no-print-directory $(DEBIAN_TREE) $(CONTAINER_TREE)
	@NFPM=$(NFPM) VERSION=$$(bin/slipway version -o json | jq -r .build_id).newer deploy/packages/build dist/newer
	@mkdir -p dist && cp deploy/images/packages.lock dist/packages.lock
	@$(IMAGES_OF_TESTS) IMAGES_FOLDER=dist/images || { echo 'no images with deploy/images/packages.lock: next with the packages that Debian has now'; \
	  deploy/images/lock $(CURDIR)/dist/packages.lock && $(IMAGES_OF_TESTS) IMAGES_FOLDER=dist/images; }
	@$(IMAGES_OF_TESTS) IMAGES_FOLDER=dist/again
	IMAGES=$(CURDIR)/dist/images IMAGES_AGAIN=$(CURDIR)/dist/again DEBIAN_TREE=$(DEBIAN_TREE) CONTAINER_TREE=$(CONTAINER_TREE) DEB=$$(ls $(CURDIR)/dist/packages/*.deb) DEB_NEWER=$$(ls $(CURDIR)/dist/newer/*.deb) RPM=$$(ls $(CURDIR)/dist/packages/*.rpm) \
	  $(NICE) $(GO) test -vet=off -timeout 60m -count=1 -v ./test/deploy

demo-kube: deps programs ## three masters, a single node and a worker that joins, defined by resources of Kubernetes on a hub (the first build compiles Kubernetes: 5 to 15 minutes)
	@$(MAKE) --no-print-directory $(KUBE)/kube-apiserver $(KUBE)/kube-controller-manager $(KUBE)/kubectl $(KUBE)/etcd
	bin/slipway-demo hub --programs $(KUBE) $(DEMO)

test-kube: programs ## resources of Kubernetes: an API server with etcd, slipway kube, and a service (the first build compiles the API server: 5 to 10 minutes)
	@$(MAKE) --no-print-directory $(KUBE)/kube-apiserver $(KUBE)/kube-controller-manager $(KUBE)/kubectl $(KUBE)/etcd
	KUBE_PROGRAMS=$(KUBE) $(NICE) $(GO) test -vet=off -timeout 60m -count=1 -v ./test/kube

bench-hub: programs ## the controllers beside 1,000 hosts and 300 clusters: time until all are followed, processor time at rest, memory (3 minutes)
	@$(MAKE) --no-print-directory $(KUBE)/kube-apiserver $(KUBE)/etcd
	KUBE_PROGRAMS=$(KUBE) $(NICE) $(GO) test -vet=off -timeout 20m -count=1 -v -run '^TestManyResources$$' ./test/kube -args -agents 1000 -clusters 300 -rest 30s

bench-abuse: programs ## crowds that mean no good, one after the other, beside 1,000 hosts (HOSTS) that poll: a table with goals (20 minutes; ONLY=crowd)
	@deploy/debian-packages
	timeout 45m $(GO) test -vet=off -timeout 40m -count=1 -run '^$$' -bench '^BenchmarkAbuse$$' -benchtime 1x ./test/bench -args \
	  -abuse-hosts $(or $(HOSTS),1000) -abuse-window $(or $(WINDOW),20s) -abuse-only '$(ONLY)'

bench-scale: programs ## what one machine holds: HOSTS=10000 that wait, STORM=5000 that boot within a minute, RATE=2000 single nodes an hour for TIME=30m, BURST=500 at once, one cluster of 1,000, an image to 200 (90 minutes; PART=hosts|installations|cluster|image: one; PROFILES=folder: of hosts that wait)
	@deploy/debian-packages
	@ulimit -n $$(ulimit -H -n); for part in $(or $(PART),hosts installations cluster image); do \
	  case $$part in \
	    hosts) run='^BenchmarkScale$$/^hosts$$';; installations) run='^BenchmarkScale$$/^installations$$';; \
	    cluster) run='^BenchmarkLargeInstallation$$';; image) run='^BenchmarkFullImage$$/^readers-200$$';; \
	    *) echo "PART: require hosts, installations, cluster or image, found $$part"; exit 2;; \
	  esac; \
	  timeout 90m $(GO) test -vet=off -timeout 85m -count=1 -run '^$$' -bench "$$run" -benchtime 1x ./test/bench -args \
	    -scale-hosts $(or $(HOSTS),10000) -scale-storm $(or $(STORM),5000) -scale-rate $(or $(RATE),2000) -scale-time $(or $(TIME),30m) \
	    -scale-burst $(or $(BURST),500) -hosts 1000 $(if $(PROFILES),-profiles $(abspath $(PROFILES))) || exit 1; \
	done

test-helm: programs ## the Helm chart: lint, what it renders for the values in its folder ci, its pods as processes, and against an API server (the first build compiles Kubernetes: 10 to 20 minutes)
	@$(MAKE) --no-print-directory $(KUBE)/kube-apiserver $(KUBE)/kube-controller-manager $(KUBE)/etcd
	@$(MAKE) --no-print-directory run-helm

smoke-helm: programs $(HELM) ## the same without pods and API server, in a minute
	HELM=$(HELM) $(NICE) $(GO) test -vet=off -timeout 60m -count=1 ./test/helm -skip '^(TestPodsRunAsProcesses|TestAPIServerAcceptsTheManifests|TestReleaseIsReady)$$'

.PHONY: demo-kube test-kube bench-hub bench-abuse bench-scale test-helm smoke-helm run-helm
run-helm: $(HELM)
	@for values in deploy/helm/slipway/ci/*.yaml; do $(HELM) lint --quiet --strict deploy/helm/slipway --values $$values || exit 1; done
	@$(MAKE) --no-print-directory $(TEMPORAL_CLI) || echo 'the temporal program cannot be built here: pods do not run as processes'
	HELM=$(HELM) KUBE_PROGRAMS=$(KUBE) TEMPORAL_CLI=$$(ls $(TEMPORAL_CLI) 2>/dev/null) $(NICE) $(GO) test -vet=off -timeout 60m -count=1 -v ./test/helm

SHIPPED = bin/slipway $(wildcard bin/slipway-agent-* bin/slipway-controller-*)
sbom: programs $(CYCLONEDX) ## what each program is made of, in dist/sbom (CycloneDX), and the licences of it, in dist/licences
	@rm -rf dist/sbom dist/licences && mkdir -p dist/sbom
	@for program in $(SHIPPED); do $(CYCLONEDX) bin -json -noserial -notimestamp -output dist/sbom/$${program#bin/}.cdx.json $$program 2>/dev/null || exit 1; \
	  echo "dist/sbom/$${program#bin/}.cdx.json: $$(jq '.components | length' dist/sbom/$${program#bin/}.cdx.json) modules"; done
	@$(GO) run ./test/licences -out dist/licences $(SHIPPED)

licences: programs ## the licences of all modules that programs are made of: each is known, and allowed
	@$(GO) run ./test/licences $(SHIPPED)

sweep: programs ## secrets of every kind go through an installation; none is found in tables, logs, metrics, files and answers
	$(NICE) $(GO) test -vet=off -timeout 10m -count=1 -v -run '^TestNoSecretLeavesItsPlace$$' ./test/e2e

attack: programs ## the attacks of docs/security.md, and chains of them on the built service: tried, and refused
	@deploy/browser-packages && $(MAKE) --no-print-directory $(PLAYWRIGHT)/node_modules $(OIDC_PROVIDER)/node_modules $(GOVULNCHECK)
	GOVULNCHECK=$(GOVULNCHECK) OIDC_PROVIDER=$(OIDC_PROVIDER) CHROMIUM=$$(command -v chromium) PLAYWRIGHT=$(PLAYWRIGHT) $(NICE) test/attack/run

test-twin: programs ## answers of the built binary, compared with recorded requests and answers of the existing service
	@$(MAKE) --no-print-directory run-twin

.PHONY: smoke-twin
smoke-twin: programs ## the same for catalogues and refusals, in some ten seconds
	@TWIN_FILES="catalogue refusals" $(MAKE) --no-print-directory run-twin

test-conformance: programs ## Schemathesis calls every operation of the API document for MAX_TIME seconds (60)
	@$(MAKE) --no-print-directory run-conformance

test-nmstate: run-nmstate ## our keyfiles against the keyfiles of the real nmstate (Rust 1.88 or later)

bench-image-vm: programs ## boot machines under QEMU from our images: CD, USB, network; BIOS, UEFI; static addresses (RUN=Smoke: one)
	@deploy/bench-packages
	@$(MAKE) --no-print-directory $(NMSTATECTL) || echo 'nmstatectl cannot be built here: its cases are skipped'
	@$(MAKE) --no-print-directory run-image-vm

bench-vm: programs ## install a whole cluster on QEMU machines: SHAPE=sno|compact|ha FIRMWARE=UEFI NETWORK=static ROUTE=mirror FAULTS=boot-order,power-cut,...
	@deploy/bench-packages vm
	@$(MAKE) --no-print-directory $(NMSTATECTL) || echo 'nmstatectl cannot be built here: static networks are applied as keyfiles'
	@$(MAKE) --no-print-directory run-bench-build
	$(NICE) $(GO) run ./test/bench/coreos/buildkube test/bench/kube
	$(NICE) $(GO) test -timeout 4h -count=1 -v -run '^TestInstallation$$' ./test/bench/cluster -args -shape $(or $(SHAPE),sno) \
	  -firmware $(or $(FIRMWARE),BIOS) -network $(or $(NETWORK),dhcp) -route $(or $(ROUTE),direct) -faults '$(FAULTS)'

bench-kube: $(GOLANGCI) ## the bench's control plane without machines: in namespaces, alone, as one node, and as three masters with a worker
	@deploy/bench-packages vm
	$(NICE) $(GO) run ./test/bench/coreos/buildkube test/bench/kube
	cd test/bench/kube && $(NICE) $(GO) test ./... && $(NICE) $(GOLANGCI) run ./...
	$(NICE) $(GO) test -count=1 -v -run 'Archive' ./test/bench/coreos
	$(NICE) $(GO) test -timeout 30m -count=1 -v -run '^Test(SingleNode|Masters)' ./test/bench/payload -args -hosts

bench-disks: ## clean-up of disks and coreos-installer with the real tools, in a machine of its own (RUN=regexp)
	@deploy/bench-packages disks
	@$(MAKE) --no-print-directory run-bench-build
	RUN='$(RUN)' $(NICE) $(GO) test -count=1 -v -timeout 15m -run '^TestDisksOfARealMachine$$' ./test/bench/disks

bench-netns: programs ## real agents on N hosts (20) that are network namespaces, and faults of their network (FAULTS=regexp, LONG=1)
	@deploy/bench-packages netns
	$(NICE) $(GO) test -timeout 4h -count=1 -v -run '^TestFaults$$' ./test/bench/netns -args -hosts $(or $(N),20) -faults '$(FAULTS)' $(if $(LONG),-long)

bench-steps: ## every step of the agent with the real tools, on hosts in namespaces (RUN=regexp, TOOLS=rhcos: only the tools of RHCOS)
	@deploy/bench-packages steps
	$(if $(TOOLS),BENCH_TOOLS=$(TOOLS)) $(NICE) $(GO) test -count=1 -v -timeout 15m -parallel 8 ./test/bench/steps $(if $(RUN),-run '$(RUN)')

smoke-vm: programs ## two machines, where QEMU can be had: one booted from our image, one installed by it
	@if deploy/bench-packages; then $(MAKE) --no-print-directory run-image-vm RUN=Smoke; \
	  else echo 'SKIP: no machine is booted, because QEMU and the tools of its system cannot be installed here'; fi

.PHONY: run-image-vm run-bench-build
run-bench-build:
	NMSTATECTL=$$(ls $(NMSTATECTL) 2>/dev/null) $(NICE) $(GO) run ./test/bench/coreos/build

run-image-vm: run-bench-build
	$(NICE) $(GO) test -vet=off -count=1 -v -timeout 30m -parallel 2 ./test/bench/vm $(if $(RUN),-run $(RUN))

.PHONY: run-e2e run-documented run-outside run-chains run-bench run-smoke-temporal run-docs run-clients run-twin run-conformance run-nmstate run-issuer
run-e2e:
	$(NICE) $(GO) test -vet=off -timeout 85m -count=1 -parallel 4 ./test/e2e ./test/images ./test/bench

run-documented:
	@$(MAKE) --no-print-directory -j1 run-docs run-clients run-chains

run-outside:
	@$(MAKE) --no-print-directory -j1 run-conformance run-bench run-smoke-temporal run-issuer

run-bench:
	@$(MAKE) --no-print-directory $(GOVULNCHECK) || echo 'govulncheck cannot be built here: its test is skipped'
	GOVULNCHECK=$$(ls $(GOVULNCHECK) 2>/dev/null) $(NICE) $(GO) test -vet=off -count=1 -skip '^TestDisksOfARealMachine$$' \
	  ./test/bench/payload/... ./test/bench/coreos ./test/bench/disks ./test/deploy
	$(NICE) $(GO) test -vet=off -count=1 -v -run '^TestSmoke$$' ./test/bench/netns

run-docs:
	$(NICE) $(GO) test -vet=off -timeout 60m -count=1 ./test/docs

run-chains:
	$(NICE) $(GO) test -vet=off -timeout 30m -count=1 ./test/attack

run-clients:
	@$(MAKE) --no-print-directory $(AICLI) || echo 'aicli cannot be installed here: its test is skipped'
	AICLI=$(AICLI) CHROMIUM=$$(command -v chromium) PLAYWRIGHT=$(wildcard $(PLAYWRIGHT)) CONSOLE=$(patsubst %/index.html,%,$(wildcard $(CONSOLE)/index.html)) \
	  $(NICE) $(GO) test -vet=off -timeout 60m -count=1 ./test/clients

TEMPORAL_TESTS = CHROMIUM=$$(command -v chromium) PLAYWRIGHT=$(PLAYWRIGHT) $(NICE) $(GO) test -vet=off -timeout 85m -count=1 -v -parallel 2
run-temporal: $(TEMPORAL_CLI)
	@deploy/browser-packages && $(MAKE) --no-print-directory $(PLAYWRIGHT)/node_modules
	TEMPORAL_CLI=$(TEMPORAL_CLI) $(TEMPORAL_TESTS) -run '^TestTemporal.*$(RUN)' ./test/e2e $(if $(SCREENSHOTS),-args -screenshots '$(abspath $(SCREENSHOTS))')

run-smoke-temporal:
	@if deploy/browser-packages && $(MAKE) --no-print-directory $(PLAYWRIGHT)/node_modules; then \
	  $(TEMPORAL_TESTS) -run '^TestTemporalUIRetriesAFailedHost$$' ./test/e2e; \
	  else echo 'SKIP: the web UI of Temporal is not tried, because Chromium or playwright-core cannot be installed here'; fi

run-issuer:
	@$(MAKE) --no-print-directory $(OIDC_PROVIDER)/node_modules || echo 'oidc-provider cannot be installed here (npm with Node 20 or later): its tests are skipped'
	OIDC_PROVIDER=$$(ls -d $(OIDC_PROVIDER) 2>/dev/null) CHROMIUM=$$(command -v chromium) PLAYWRIGHT=$(wildcard $(PLAYWRIGHT)) \
	  $(NICE) $(GO) test -vet=off -timeout 30m -count=1 -v ./test/issuer

run-nmstate:
	@$(MAKE) --no-print-directory $(NMSTATE_ORACLE) $(NMSTATE_OLDEST) $(NMSTATECTL) || echo 'nmstate cannot be built here (cargo with Rust 1.88 or later): its tests are skipped'
	@rm -rf $(TOOLS_DIR)/nmstate-build
	NMSTATE_ORACLE=$$(ls $(NMSTATE_ORACLE) 2>/dev/null) NMSTATE_OLDEST=$$(ls $(NMSTATE_OLDEST) 2>/dev/null) NMSTATECTL=$$(ls $(NMSTATECTL) 2>/dev/null) $(NICE) $(GO) test -vet=off -timeout 60m -count=1 ./test/nmstate

run-twin:
	@$(NICE) $(GO) test -vet=off -timeout 60m -count=1 -v -run '^TestTwin$$' ./test/twin

run-conformance:
	@$(MAKE) --no-print-directory $(SCHEMATHESIS) || echo 'Schemathesis cannot be installed here: its test is skipped'
	SCHEMATHESIS=$(SCHEMATHESIS) $(NICE) $(GO) test -vet=off -timeout 60m -count=1 -v ./test/conformance

check: ## generated files, format, vet, lint, workflow determinism, imports
	@$(MAKE) --no-print-directory generate-clean
	@$(MAKE) --no-print-directory check-code

.PHONY: check-code
check-code: $(GOLANGCI) $(GOFUMPT) $(WORKFLOWCHECK) check-dead
	@test -z "$$($(GOFUMPT) -l $$(git ls-files '*.go' | grep -v '\.gen\.go$$'))" || { $(GOFUMPT) -l $$(git ls-files '*.go' | grep -v '\.gen\.go$$'); echo 'the files above are not formatted: run gofumpt -w on them'; exit 1; }
	$(NICE) $(GO) vet ./...
	$(NICE) $(GOLANGCI) run ./...
	$(NICE) $(WORKFLOWCHECK) ./workflows/...
	$(NICE) $(GO) test -count=1 ./internal/testing/arch
	$(NICE) $(GO) test -count=1 -v -run '^Test(RecordedHistories|HistoriesOf)' ./internal/testing/histories

# Programs whose functions are in use; internal/testing/reachable stands for cmd/slipway.
PROGRAMS := ./cmd/slipway-agent ./cmd/slipway-controller ./cmd/slipway-demo ./internal/testing/reachable \
  ./test/bench/coreos/build ./test/bench/coreos/buildkube ./test/bench/payload/installer ./test/bench/payload/node

.PHONY: check-dead
check-dead: $(DEADCODE) ## functions that no program calls, except internal/testing/reachable/exceptions.txt
	@internal/testing/reachable/check $(DEADCODE) $(PROGRAMS)

generate: $(D2) ## write generated files again
	$(GO) tool oapi-codegen -config internal/wire/oapi-models.yaml api/openapi.yaml
	cd api && $(GO) tool oapi-codegen -config oapi-server.yaml openapi.yaml
	$(NICE) $(GO) tool controller-gen object paths=./api/kube/...
	$(NICE) $(GO) tool controller-gen crd paths=./api/kube/agentinstall paths=./api/kube/hiveext output:crd:dir=deploy/crds
	$(NICE) $(GO) test ./internal/cluster/lifecycle ./internal/cluster/operators ./internal/cluster/validation ./internal/cluster/events ./internal/platform/metrics ./internal/cluster/steps ./internal/cluster/duesteps ./internal/cluster/features ./api ./internal/app/settings -vet=off -run Docs -update
	$(D2) --layout elk --elk-nodeNodeBetweenLayers 45 --omit-version --pad 20 --scale 0.85 docs/architecture.d2 docs/architecture.svg
	@chmod 644 docs/architecture.svg

# Writes files of packages: nothing that compiles runs beside it.
.PHONY: generate-clean
generate-clean:
	@rm -rf $(GENERATED) && mkdir -p $(GENERATED) && cp --parents $(GENERATED_FILES) $(GENERATED)
	@$(MAKE) --no-print-directory generate
	@stale=; for file in $(GENERATED_FILES); do cmp $$file $(GENERATED)/$$file || stale=yes; done; \
	  test -z "$$stale" || { echo 'generated files were out of date: commit what make generate wrote'; exit 1; }

fuzz: deps ## look for inputs that break something: every fuzz target for FUZZTIME (2m)
	@for package in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do \
	  for target in $$($(GO) test -list '^Fuzz' $$package | grep '^Fuzz'); do \
	    echo "== $$package $$target"; \
	    $(NICE) $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(or $(FUZZTIME),2m) -fuzzminimizetime 10x -parallel 1 $$package || exit 1; \
	  done; \
	done

bench: deps programs ## benchmarks; ratios and costs per unit, compared within one run
	$(NICE) $(GO) test -run '^$$' -bench . -benchtime 2s ./internal/service/discovery ./internal/platform/store ./internal/hostconfig/ignition ./internal/hostconfig/staticnet ./api
	$(NICE) $(GO) test -run '^$$' -bench . -timeout 3h ./test/...

# The tests that record: each is a case.
RECORDED := History|SingleNode|V2API|Retried|Cancelled|Paused|FailedStep|Evicted|HostsAreAdded|Reclaimed|EndedOrReset|NotAnnounced|ControlWorkflow
record-histories: release-named programs ## record the histories that replay tests hold workflows against: RELEASE=0.2.0; RUN=ControlWorkflow: one case
	$(NICE) $(GO) test -count=1 -timeout 30m -run '$(or $(RUN),$(RECORDED))' ./test/e2e -args -record '$(RELEASE)'

.PHONY: release-named
release-named:
	@test -n '$(RELEASE)' || { echo 'record-histories: name the version that is about to be released: make record-histories RELEASE=0.2.0'; exit 2; }

clean: ## remove what was built here; the cache outside stays
	rm -rf bin dist

$(SCHEMATHESIS):
	@echo "installing Schemathesis $(SCHEMATHESIS_VERSION) into $(TOOLS_DIR)"
	@rm -rf $(patsubst %/bin/st,%,$@) && mkdir -p $(TOOLS_DIR) && python3 -m venv $(patsubst %/bin/st,%,$@)
	@$(@D)/pip --quiet --disable-pip-version-check install schemathesis==$(SCHEMATHESIS_VERSION) hypothesis==$(HYPOTHESIS_VERSION) || { rm -f $@; exit 1; }
$(AICLI):
	@echo "installing aicli $(AICLI_VERSION) into $(TOOLS_DIR)"
	@rm -rf $(patsubst %/bin/aicli,%,$@) && mkdir -p $(TOOLS_DIR) && python3 -m venv $(patsubst %/bin/aicli,%,$@)
	@$(@D)/pip --quiet --disable-pip-version-check install aicli==$(AICLI_VERSION) assisted-service-client==$(ASSISTED_CLIENT_VERSION) || { rm -f $@; exit 1; }
$(NMSTATE_ORACLE):
	@echo "building nmstate-oracle with nmstate $(NMSTATE_VERSION) into $(TOOLS_DIR) (about a minute)"
	@CARGO_TARGET_DIR=$(TOOLS_DIR)/nmstate-build $(NICE) cargo install --quiet --force --locked --path test/nmstate/oracle --root $(patsubst %/bin/nmstate-oracle,%,$@)

# The nmstate of the first systems that apply NMState by themselves.
$(NMSTATE_OLDEST):
	@echo "building nmstate-oldest into $(TOOLS_DIR) (about a minute)"
	@CARGO_TARGET_DIR=$(TOOLS_DIR)/nmstate-build $(NICE) cargo install --quiet --force --locked --path test/nmstate/oldest --root $(patsubst %/bin/nmstate-oldest,%,$@)

$(NMSTATECTL):
	@echo "building nmstatectl $(NMSTATE_VERSION) into $(TOOLS_DIR) (about a minute)"
	@CARGO_TARGET_DIR=$(TOOLS_DIR)/nmstate-build $(NICE) cargo install --quiet --locked nmstatectl --version =$(NMSTATE_VERSION) --no-default-features --features gen_conf --root $(patsubst %/bin/nmstatectl,%,$@)
$(DEBIAN_TREE):
	@deploy/debian-tree $@ bookworm bash-completion,postgresql
# The first Debian whose podman has quadlets.
$(CONTAINER_TREE):
	@deploy/debian-tree $@ trixie podman,podman-compose,crun,netavark,aardvark-dns,nftables,iproute2
$(IGNITION):
	@mkdir -p $(TOOLS_DIR) && deploy/debian-ignition $(patsubst %/bin/ignition,%,$@)
$(NMCLI):
	@mkdir -p $(TOOLS_DIR) && deploy/debian-nmcli $(patsubst %/bin/nmcli,%,$@)
$(PLAYWRIGHT)/node_modules:
	@echo "installing playwright-core into $(PLAYWRIGHT)"
	@mkdir -p $(PLAYWRIGHT) && cp test/temporal/package.json test/temporal/package-lock.json $(PLAYWRIGHT)
	@cd $(PLAYWRIGHT) && npm ci --ignore-scripts --no-audit --no-fund --silent || { rm -rf $@; exit 1; }
$(PEBBLE):
	@echo "building Pebble $(PEBBLE_VERSION) into $(@D)"
	@mkdir -p $(@D) && GOBIN=$(@D) $(NICE) $(GO) install -ldflags '$(LDFLAGS)' github.com/letsencrypt/pebble/v2/cmd/pebble-challtestsrv@$(PEBBLE_VERSION) \
	  github.com/letsencrypt/pebble/v2/cmd/pebble@$(PEBBLE_VERSION)
$(OIDC_PROVIDER)/node_modules:
	@node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)'
	@echo "installing oidc-provider into $(OIDC_PROVIDER)"
	@mkdir -p $(OIDC_PROVIDER) && cp test/issuer/package.json test/issuer/package-lock.json $(OIDC_PROVIDER)
	@cd $(OIDC_PROVIDER) && npm ci --ignore-scripts --no-audit --no-fund --silent || { rm -rf $@; exit 1; }
$(CONSOLE)/index.html:
	@echo "building the console of openshift-assisted into $(CONSOLE)"
	@rm -rf $(dir $(CONSOLE)) && mkdir -p $(dir $(CONSOLE)) && cp -r test/clients/wizard/. $(dir $(CONSOLE))
	@cd $(dir $(CONSOLE)) && $(NICE) npm ci --ignore-scripts --no-audit --no-fund --silent && $(NICE) node_modules/.bin/vite build --logLevel warn && rm -rf node_modules || { rm -rf $(CONSOLE); exit 1; }
$(TEMPORAL_CLI):
	@echo "building the temporal program $(TEMPORAL_CLI_VERSION) into $(TOOLS_DIR) (the first build compiles another Temporal server: 5 to 10 minutes on 2 cores)"
	@mkdir -p $(@D) && GOBIN=$(@D) $(NICE) $(GO) install -ldflags '$(LDFLAGS)' github.com/temporalio/cli/cmd/temporal@$(TEMPORAL_CLI_VERSION)
# In a module that requires what ours does: everything but its command line is compiled already.
$(TEMPORAL_SERVER):
	@echo "building Temporal's server into $(@D)"
	@rm -rf $(@D) && mkdir -p $(@D)/module && sed 's/^module .*/module server/' go.mod > $(@D)/module/go.mod && cp go.sum $(@D)/module/
	@cd $(@D)/module && printf 'package server\n\nimport (\n\t_ "go.temporal.io/server/temporal"\n)\n' > server.go && \
	  $(GO) get github.com/urfave/cli/v2 && \
	  $(NICE) $(GO) build -mod=mod -ldflags '$(LDFLAGS)' -o ../temporal-sql-tool go.temporal.io/server/cmd/tools/sql && \
	  $(NICE) $(GO) build -mod=mod -ldflags '$(LDFLAGS)' -o ../temporal-server go.temporal.io/server/cmd/server
$(GOLANGCI):
	@mkdir -p $(@D) && GOBIN=$(@D) $(NICE) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
$(GOFUMPT):
	@mkdir -p $(@D) && GOBIN=$(@D) $(NICE) $(GO) install mvdan.cc/gofumpt@$(GOFUMPT_VERSION)
$(DEADCODE):
	@mkdir -p $(@D) && GOBIN=$(@D) $(NICE) $(GO) install golang.org/x/tools/cmd/deadcode@$(DEADCODE_VERSION)
$(CYCLONEDX):
	@mkdir -p $(@D) && GOBIN=$(@D) $(NICE) $(GO) install github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@$(CYCLONEDX_VERSION)
$(KUBE)/kube%: VERSION = $(shell $(GO) -C test/bench/kube list -m -f '{{.Version}}' k8s.io/kubernetes)
$(KUBE)/kube%: NAMED = $(foreach name,k8s.io/component-base/version.gitVersion k8s.io/client-go/pkg/version.gitVersion,-X $(name)=$(VERSION))
$(KUBE)/kube%: MINOR = -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=$(word 2,$(subst ., ,$(VERSION)))
$(KUBE)/kube%:
	@echo "building $(@F) of Kubernetes $(VERSION) into $(KUBE) (the first build takes 5 to 10 minutes on 2 cores)"
	@mkdir -p $(KUBE) && GOWORK=off $(NICE) $(GO) build -C test/bench/kube -ldflags '$(LDFLAGS) $(NAMED) $(MINOR)' -o $@ k8s.io/kubernetes/cmd/$(@F)
$(KUBE)/etcd: deploy/debian-etcd
	@mkdir -p $(KUBE) && deploy/debian-etcd $(KUBE)
$(S3_SERVER):
	@mkdir -p $(@D) && GOBIN=$(@D) $(NICE) $(GO) install -ldflags '$(LDFLAGS)' github.com/versity/versitygw/cmd/versitygw@$(VERSITYGW_VERSION)
$(GOVULNCHECK):
	@mkdir -p $(@D) && GOBIN=$(@D) $(NICE) $(GO) install golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK_VERSION)
$(NFPM):
	@mkdir -p $(@D) && GOBIN=$(@D) $(NICE) $(GO) install -ldflags '$(LDFLAGS)' github.com/goreleaser/nfpm/v2/cmd/nfpm@$(NFPM_VERSION)
$(HELM):
	@mkdir -p $(@D) && GOBIN=$(@D) $(NICE) $(GO) install -ldflags '$(LDFLAGS)' helm.sh/helm/v3/cmd/helm@$(HELM_VERSION)
$(WORKFLOWCHECK):
	@mkdir -p $(@D) && GOBIN=$(@D) $(NICE) $(GO) install go.temporal.io/sdk/contrib/tools/workflowcheck@$(WORKFLOWCHECK_VERSION)
# Built in a module that only requires it: go install of a version asks for the list of all versions, which the module
# proxy does not have for this one.
$(D2):
	@echo "building d2 $(D2_VERSION), which draws the picture of the documentation, into $(TOOLS_DIR) (two minutes)"
	@mkdir -p $(@D)/module && printf 'module d2\n\ngo 1.26\n\nrequire oss.terrastruct.com/d2 $(D2_VERSION)\n' > $(@D)/module/go.mod
	@cd $(@D)/module && $(NICE) $(GO) build -mod=mod -ldflags '-s -w' -o $@ oss.terrastruct.com/d2
