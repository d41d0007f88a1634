// Package sim plays the machines of a cluster and the cluster itself: the real agent,
// installer and controller code on a simulated root tree, command runner, network and
// Kubernetes API.
//
// A Machine goes through power cycles: it boots the live image and runs the agent until
// a reboot is commanded, then starts from its disk when an image was written to it. All
// it knows is in its folder:
//
//	state.json   the present boot, what was commanded, what faults are used up
//	machine.log  what happened, one JSON document a line, synced; see Entry
//	disks/       one file a disk: what was written to it
//	root/        the file system of the running system; a boot makes it anew
//
// A machine whose process is killed and started again continues in the same boot: to the
// agent that is a restart of its process, while PowerCycle is one of the machine.
//
// A Cluster holds the API of the new cluster, the rollout of its operators and the real
// controller. Machines of a cluster share a site.Site.
package sim
