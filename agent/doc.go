// Package agent runs on a host from the live image until it reboots from its disk: it registers the host, asks the service for steps,
// runs them and hands in their results. It never gives up: no answer of the service ends or freezes it.
//
// All state is in one folder (below the root prefix) on a file system that a boot
// empties: whether this boot is registered, and a journal of the steps. A step id is
// never run twice: what ran when the agent was killed is reported as interrupted
// (wire.ExitInterrupted), what was finished is handed in again until acknowledged.
//
// # Commands
//
// Every command goes through hostexec.Runner; package inventory lists the inventory's commands, package installer the installation's. A
// command that does not exist (run.Missing) never fails a step if another way is named here. Who has an address on a link is asked
// without a command (package neighbours), as disks are measured (package diskspeed) and addresses leased (package dhcp).
//
//	before and after steps, when /run/media/iso exists:
//	  findmnt --raw --noheadings --output SOURCE,TARGET --target /run/media/iso
//	connectivity-check:
//	  ping -c 10 -i 0.2 -W 3 -q IP                each remote address once
//	  ping -c 3 -W 3 -q -M do -s SIZE -I NIC IP   NICs whose MTU is not 1500; SIZE is MTU-28, IPv6 MTU-48
//	verify-vips, for addresses of a network that the host is not in:
//	  ping -c 2 -W 2 -q VIP
//	ntp-synchronizer:
//	  chronyc -n sources
//	  chronyc add server SOURCE iburst
//	dhcp-lease-allocate, for the names api and ingress:
//	  ip link add NAME link NIC address MAC type macvlan
//	  ip link set NAME up
//	  ip link delete NAME
//	container-image-availability:
//	  podman images --quiet IMAGE
//	  podman pull --quiet IMAGE
//	  podman image inspect --format={{.Size}} IMAGE
//	download-boot-artifacts, reboot-for-reclaim:
//	  mount -o remount,rw /boot
//	  sync
//	  rpm-ostree cleanup --os=rhcos -r            when /boot has no room for the image, even in place of an earlier one
//	  systemctl reboot
package agent
