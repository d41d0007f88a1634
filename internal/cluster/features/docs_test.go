package features_test

import (
	"flag"
	"strings"
	"testing"

	"slipway/internal/cluster/features"
	"slipway/internal/cluster/operators"
	"slipway/internal/testing/docpage"
)

var update = flag.Bool("update", false, "write the page in docs/reference/")

const (
	supportIntro = "`GET /v2/support-levels/features`, `/features/detailed` and `/architectures` answer from these tables. Versions are " +
		"compared by their first two numbers,\n" +
		"a pre-release counts as its release, `aarch64` as `arm64`; `oci` is the external platform of that name. With `platform_type` " +
		"the platforms are left out and\n" +
		"`PLATFORM_MANAGED_NETWORKING` is added. A cluster or InfraEnv that uses what is unavailable or unsupported, or two features " +
		"that exclude each\n" +
		"other, is refused with 400 and the names of both.\n\n"
	featuresIntro = "## Features\nLimits are held in order, the first that fits decides; the reply has its reason.\n\n"

	releasesIntro = "## Releases\n`RELEASE_IMAGES` is a JSON list with an item for each release image; items of one version are one " +
		"release with several architectures:\n" +
		"```\n[{\"openshift_version\": \"4.22\", \"version\": \"4.22.9\", \"cpu_architecture\": \"x86_64\", \"url\": " +
		"\"quay.io/...:4.22.9-x86_64\", \"default\": true},\n" +
		" {\"openshift_version\": \"4.22\", \"version\": \"4.22.9\", \"cpu_architecture\": \"arm64\", \"url\": " +
		"\"quay.io/...:4.22.9-aarch64\"},\n" +
		" {\"openshift_version\": \"4.22-multi\", \"version\": \"4.22.9-multi\", \"cpu_architecture\": \"multi\", " +
		"\"cpu_architectures\": [\"x86_64\", \"arm64\"], \"url\": \"quay.io/...:4.22.9-multi\"}]\n```\n" +
		"`support_level` is beta, production, maintenance or end-of-life; without it a pre-release is beta and another release in " +
		"production. A cluster asks for a whole\n" +
		"version, a minor version (its newest release for the architecture; a build for several architectures where no other has it, " +
		"and then the cluster's is `multi`),\n" +
		"or an `ocp_release_image` of the list; other images are taken only with `SLIPWAY_ANY_RELEASE_IMAGE`, with the version the " +
		"client names.\n\n" +
		"`OS_IMAGES` is a JSON list of live images: `openshift_version`, `cpu_architecture`, `url`, `version`.\n\n" +
		"`RELEASE_SOURCES` names channels of the update service, read every `OPENSHIFT_RELEASE_SYNCER_INTERVAL`; `[]` is none. Without any " +
		"of these settings,\n" +
		"releases, live images and channels are the shipped ones, or releases and images of the last `slipway versions update`. With " +
		"`RELEASE_IMAGES` alone no channel is read:\n" +
		"```\n[{\"openshift_version\": \"4.22\", \"multi_cpu_architectures\": [\"x86_64\", \"arm64\"],\n" +
		"  \"upgrade_channels\": [{\"cpu_architecture\": \"x86_64\", \"channels\": [\"stable\", \"candidate\"]}, {\"cpu_architecture\": " +
		"\"multi\", \"channels\": [\"stable\"]}]}]\n```\n" +
		"What is only in a candidate channel, or a pre-release, is beta; the product life cycles say which minor versions are in " +
		"maintenance or at their end. Releases of\n" +
		"`RELEASE_IMAGES` win over those found, its default stays. When an answer is missing the list stays as it is.\n\n" +
		"`BASE_DNS_DOMAINS` (`example.com:Z0123/route53,...`) is the list of `GET /v2/domains`.\n\n"

	usageIntro = "## Feature usage\nThe field `feature_usage` of a cluster has an entry for each of these that it uses, and one for " +
		"each operator by its name in capitals. Hosts and manifests\n" +
		"are counted when the cluster is evaluated.\n\n"
)

func TestDocsOfSupport(t *testing.T) {
	t.Parallel()
	var rows, architectures, names [][]string
	for _, r := range operators.Features.Rows() {
		rows = append(
			rows,
			[]string{"`" + r.ID + "`", r.Name, r.Level, r.Limits, strings.Join(r.Excludes, ", "), strings.Join(r.Needs, ", ")},
		)
	}
	for _, r := range features.ArchitectureRows() {
		architectures = append(architectures, []string{"`" + r.ID + "`", r.Level, r.Since, r.Preview})
	}
	for _, n := range features.UsageNames() {
		names = append(names, []string{n[0], "`" + n[1] + "`"})
	}
	text := docpage.Title("Support levels and releases", "internal/cluster/features") + supportIntro +
		featuresIntro + docpage.Table([]string{"feature", "what", "level", "limits", "excludes", "brings"}, rows) +
		"## Architectures\n" + docpage.Table([]string{"architecture", "level", "since", "tech-preview before"}, architectures) +
		releasesIntro + usageIntro + docpage.Table([]string{"name", "id"}, names)
	docpage.Check(t, *update, "support.md", text[:len(text)-1])
}
