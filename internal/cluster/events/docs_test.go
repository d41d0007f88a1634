package events_test

import (
	"flag"
	"maps"
	"slices"
	"strings"
	"testing"

	"slipway/internal/cluster/events"
	"slipway/internal/testing/docpage"
)

var update = flag.Bool("update", false, "write the page in docs/reference/")

const reading = "## Reading them\nOldest first, or newest with `order=descending`; `limit` and `offset` page, and the headers " +
	"`Event-Count` and `Severity-Count-*` count all\n" +
	"that matches. `cluster_id`, `infra_env_id`, `severities`, `message` (a part of it, any case) and `categories` (without it: user) " +
	"narrow the list together.\n" +
	"`host_ids` (and `host_id`), `cluster_level=true` and `deleted_hosts=true` widen each other: an event is listed when one of them " +
	"wants it, of one of these\n" +
	"hosts, of no host, or of a host that was deleted. Where none of them is given, `cluster_level=false` and `deleted_hosts=false` " +
	"leave such events out.\n" +
	"History is deleted with its cluster or InfraEnv, see [housekeeping](../housekeeping.md).\n\n"

// Reasons for leaving events of the assisted-service out.
const (
	inOneTransaction = "a command changes everything in one transaction or answers with an error"
	noImageCache     = "images are assembled while they are sent; no image is generated, stored or expires"
	notDone          = "Slipway does not do this"
)

// notEmitted are the events of the assisted-service that Slipway never writes, with the
// reason.
var notEmitted = map[string]string{
	"cancel_install_commit_failed":                inOneTransaction,
	"cancel_install_start_failed":                 inOneTransaction,
	"cancel_installation_failed":                  inOneTransaction,
	"cluster_deregister_failed":                   inOneTransaction,
	"reset_installation_failed":                   inOneTransaction,
	"host_bind_failed":                            inOneTransaction,
	"host_unbind_failed":                          inOneTransaction,
	"host_cancel_installation_failed":             inOneTransaction,
	"host_installation_reset_failed":              inOneTransaction,
	"host_registration_setting_properties_failed": inOneTransaction,
	"host_reset_fetch_failed":                     inOneTransaction,
	"host_set_status_failed":                      inOneTransaction,
	"infra_env_deregister_failed":                 inOneTransaction,
	"infra_env_registration_failed":               inOneTransaction,
	"expired_image_deleted":                       noImageCache,
	"existing_image_reused":                       noImageCache,
	"generate_image_fetch_failed":                 noImageCache,
	"generate_image_format_failed":                noImageCache,
	"generate_minimal_iso_failed":                 noImageCache,
	"ignition_config_image_generated":             noImageCache,
	"upload_image_failed":                         noImageCache,
	"cluster_operator_report":                     "`cluster_operator_status` reports each operator",
	"installation_preparing_timed_out":            "`prepare_installation_failed` carries the reason",
	"host_boot_logs_uploaded":                     "`host_logs_uploaded` reports every upload of a host",
	"host_approved_updated":                       notDone,
	"quick_disk_format_performed":                 notDone,
	"quick_disk_format_skipped":                   notDone,
	"reboots_for_node":                            "the controller of the new cluster sends it",
}

func TestDocsOfEvents(t *testing.T) {
	t.Parallel()
	var rows, limits [][]string
	for _, e := range events.Catalogue() {
		if e.Every > 0 {
			limits = append(limits, []string{"`" + string(e.Name) + "`", strings.TrimSuffix(e.Every.String(), "0s"), e.Why})
		}
		rows = append(rows, []string{"`" + string(e.Name) + "`", string(e.Severity), docpage.Code(e.Props, ""), e.Message})
	}
	var absent [][]string
	for _, name := range slices.Sorted(maps.Keys(notEmitted)) {
		absent = append(absent, []string{"`" + name + "`", notEmitted[name]})
	}
	text := docpage.Title("Events", "internal/cluster/events") +
		"The events that `GET /v2/events` and `slipway cluster events` list. Names, severities and properties follow the v2 API.\n" +
		"`host_status_updated` is a warning or an error when the new status needs attention.\n\n" +
		reading + "## Events that repeat themselves\n" +
		"The same message about the same host, cluster or InfraEnv is written once in that time; all others are always written.\n\n" +
		docpage.Table([]string{"name", "once in", "why"}, limits) + "## All events\n" +
		docpage.Table([]string{"name", "severity", "properties", "message"}, rows) +
		"## Events of the assisted-service that are not emitted\n" + docpage.Table([]string{"name", "why"}, absent)
	docpage.Check(t, *update, "events.md", text[:len(text)-1])
}
