// Package reports stores reports about a running installation: stages and logs of hosts by their agents, the bootstrap host and the
// controller, and operators, certificates and the end of the installation by the controller.
package reports
