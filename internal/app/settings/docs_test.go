package settings

import (
	"flag"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"slipway/api/admission"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/testing/docpage"
)

var update = flag.Bool("update", false, "write the page in docs/reference/")

const configurationIntro = "A flag wins over its variable, a variable over the file, the file over the default. " +
	"An empty variable is not set.\n" +
	"`slipway api` and `slipway worker` " +
	"have the same settings without `--postgres-user` and the two for Temporal;\n" +
	"with them and `slipway migrate` `--database-url` is required. The commands of users read `SLIPWAY_URL` " +
	"and `SLIPWAY_TOKEN`.\n`slipway config show` prints each setting with its value, and where that is from; `config check` reads them as a " +
	"start would;\n`config example` prints a file with all of them.\n\n" +
	"## File\n`/etc/slipway/slipway.yaml`, or the file that `--config` or `SLIPWAY_CONFIG_FILE` names, has settings by the names of " +
	"flags without\ndashes, and variables that have no flag by their names. Lists may be YAML lists, JSON settings may be YAML. " +
	"An unknown name " +
	"stops the start,\nas does a variable with the prefix `SLIPWAY_` that is nearly one of these. A file that holds a secret must not " +
	"be readable " +
	"by other users.\n```yaml\nlisten: 0.0.0.0:8090\nbase-url: https://slipway.example.com:8090\nallowed-hosts: [slipway.example.com, 192.0.2.7]\n" +
	"decision-timeout: 48h\nDELETED_INACTIVE_AFTER: 240h\n```\n\n"

const configurationTemporal = "## A Temporal of your own\n`TEMPORAL_ADDRESS` (host:port) names it, and none is started. " +
	"The other variables are read as by Temporal's own tools: `TEMPORAL_NAMESPACE`\n" +
	"(default `slipway`), `TEMPORAL_API_KEY`, `TEMPORAL_TLS`, `TEMPORAL_TLS_CLIENT_CERT_PATH`, `TEMPORAL_TLS_CLIENT_KEY_PATH`,\n" +
	"`TEMPORAL_TLS_SERVER_CA_CERT_PATH`, `TEMPORAL_TLS_SERVER_NAME`, and `TEMPORAL_CONFIG_FILE` for a file with profiles.\n\n"

const configurationImages = "## Flags and variables of `slipway images`\nIt has no database and no Temporal. What is not " +
	"here belongs to the API, which it asks. `ASSISTED_SERVICE_SCHEME` and `ASSISTED_SERVICE_HOST` name " +
	"the API\nwhere `--service-url` does not. `/ready` is 503 until no operating system image is on its way any more, and " +
	"says how each is.\n\n"

const configurationBackup = "## Flags and variables of `slipway backup`\nBeside the settings of the service. " +
	"[Backup](../engine.md#backup) has more.\n\n"

const configurationRates = "## Limits on requests\nDefaults of `--request-rates`. What a client sees at this and the other limits: " +
	"[performance](../performance.md#limits-on-requests).\n\n"

const configurationTimeouts = "## Time-outs\nVariables only, durations such as `30m`. An installation keeps the values it " +
	"began with. What happens at each: [states](states.md),\n" +
	"[workflows](../workflows.md). None of them ends an installation by itself: what takes too long stops, and waits for a decision.\n\n"

const configurationSwitches = "## Variables of other deployments\nRead by the names that deployments of the v2 API set; " +
	"variables only. A value that cannot be read stops the start, with the variable, what is\n" +
	"required and what was found. See [housekeeping](../housekeeping.md) for what is deleted when.\n\n"

const configurationRefused = "These ask for what this service does not do, or does by another setting. With any other value than those " +
	"it does not start, and says which:\n\n"

const configurationWithoutEffect = "Accepted without effect; the log names those that are set:\n\n"

func TestDocsOfConfiguration(t *testing.T) {
	t.Parallel()
	var flags, timeouts, read, refused, nothing [][]string
	flags = flagRows(&Up{})
	for _, s := range lifecycle.TimeoutSettings() {
		timeouts = append(timeouts, []string{"`" + s.Name + "`", limit(s.Default), s.Why})
	}
	for _, row := range variables {
		read = append(read, []string{"`" + row.name + "`", codeOrNone(row.dflt), row.why})
	}
	for _, row := range others {
		refused = append(refused, []string{"`" + row.name + "`", docpage.Code(row.harmless, ""), row.instead})
	}
	for _, row := range withoutEffect {
		nothing = append(nothing, []string{"`" + row.name + "`", row.why})
	}
	text := docpage.Title("Settings of `slipway up`", "internal/app/settings and internal/cluster/lifecycle") + configurationIntro +
		"## Flags and variables\n" + docpage.Table([]string{"flag", "variable", "default", "what"}, flags) + configurationTemporal +
		configurationImages + docpage.Table([]string{"flag", "variable", "default", "what"}, flagRows(&ImageService{})) +
		configurationBackup + docpage.Table([]string{"flag", "variable", "default", "what"}, flagRows(&Backup{})) +
		configurationRates + docpage.Table([]string{"role", "a second", "at once", "credential"}, rateRows()) +
		configurationTimeouts + docpage.Table([]string{"variable", "default", "what"}, timeouts) +
		configurationSwitches + docpage.Table([]string{"variable", "default", "what"}, read) +
		configurationRefused + docpage.Table([]string{"variable", "values that are fine", "instead"}, refused) +
		configurationWithoutEffect + docpage.Table([]string{"variable", "why it changes nothing"}, nothing)
	docpage.Check(t, *update, "configuration.md", text[:len(text)-1])
}

// flagRows lists the flags of a command.
func flagRows[T any](command *T) (rows [][]string) {
	for _, f := range flagsOf(command) {
		rows = append(rows, []string{"`--" + f.Name + "`", docpage.Code(f.Envs, ""), codeOrNone(f.Default), f.Help})
	}
	return rows
}

// credentials name what is counted as one.
var credentials = map[admission.Class]string{
	"admin": "a token", "kube": "a token", "user": "a token", "viewer": "a token", "watcher": "a token",
	"controller": "the token of a cluster",
	"agent":      "the tokens of a host", "registrar": "the token of an image, which all hosts that boot it share until they have their own",
	"foreign": "the token of an InfraEnv or cluster in the v2 API, which all its hosts share", "address": "the token in an address of files",
	"image": "the token in an address of an image, which all hosts share that boot it",
}

// rateRows lists the default rates of requests.
func rateRows() (rows [][]string) {
	rates := admission.DefaultRates()
	for _, class := range slices.Sorted(maps.Keys(rates)) {
		rate := rates[class]
		rows = append(rows, []string{"`" + string(class) + "`", strconv.Itoa(rate.PerSecond), strconv.Itoa(rate.Burst), credentials[class]})
	}
	return rows
}

func codeOrNone(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

// limit prints a duration without zero seconds.
func limit(d time.Duration) string { return "`" + timeoutText(d) + "`" }
