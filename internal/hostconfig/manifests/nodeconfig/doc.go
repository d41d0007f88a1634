// Package nodeconfig reads the objects that configure the nodes of a new cluster as its machine config controller reads
// them on the bootstrap host. That controller ends with the first object it cannot read, and then no host gets its
// configuration (docs/manifests.md, "What is accepted").
package nodeconfig
