// Package installer turns a host of the live image into a member of a cluster. Each stage
// is a method of Installer, one file a stage: our agent runs them one by one as the
// workflow commands them; Install runs them all in the order of
// docs/reference/installer.md, "Order of the stages" and reports the stages itself, as
// any v2 agent does.
//
// All commands go through hostexec.Runner; the comment of each method lists them in order. [x] marks what depends on the
// machine or the request.
//
// Files, all below the root prefix: reads and writes /opt/install-dir, /opt/openshift
// (.bootkube.done, master.ign, auth/kubeconfig, manifests/), /root/.docker/config.json,
// /var/log/containers/*machine-config-server*.log, what bootstrap.ign lists, and checks
// that the devices of the request exist.
package installer
