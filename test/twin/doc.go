// Package twin plays recorded requests to the built service and compares its answers with the existing
// service's: verdicts about hosts and clusters, install-configs, refusals and catalogues.
//
// The files of testdata are answers of openshift/assisted-service, commit 063b257950f7, to generated requests. They
// contain facts only: codes, statuses, roles, disks, validations, parsed install-configs; no ids, times and texts.
// The service ran on premises with the settings that start_test.go gives to Slipway as well.
//
// A difference is deliberate when a rule of rules.go explains it; docs/compatibility.md describes these rules. Any other
// difference, and a rule that explains nothing, fail the run.
package twin
