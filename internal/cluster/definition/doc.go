// Package definition holds the rules of what users define: clusters and InfraEnvs. A rule reads what a client sent and
// what is defined already, and changes the definition or returns a model.ErrInvalid that names the field, what is
// required and what was found. There is no HTTP and no database here.
package definition
