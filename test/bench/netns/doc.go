// Package netns runs the real agent on hosts that are network namespaces, against the
// built service, and breaks their network one way after another (make bench-netns). The
// tests hold all of it: a package of the bench has no code for others.
//
// Everything lives in namespaces of package netlab; nothing of the machine is changed. A
// host has an interface, an address by DHCP, a name, a resolv.conf, a clock daemon, a boot
// medium and a hardware tree of its own. DHCP and DNS are dnsmasq; the time servers, the
// machine config server of a cluster that hosts join, and the bad cable (loss and latency)
// are the bench's own.
//
// Every validation of networks is seen to fail and to recover, but for three:
// container-images-available is asked only while an installation is prepared, which the
// bench of virtual machines does; release-domain-name-resolved-correctly is never evaluated; and the API
// refuses the network types that fail network-type-valid for this version of OpenShift.
package netns
