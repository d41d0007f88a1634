// Package netns runs the real agent on hosts that are network namespaces, against the
// built service, and breaks their network one way after another (make bench-netns). The
// tests hold all of it: a package of the bench has no code for others.
//
// Everything lives in namespaces whose names begin with spacePrefix; nothing of the
// machine is changed. A host has an interface, an address by DHCP, a name, a resolv.conf,
// a clock daemon and a hardware tree of its own. DHCP and DNS are dnsmasq; the time
// servers and the bad cable (loss and latency) are the bench's own.
package netns
