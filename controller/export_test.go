package controller

// What tests look at beside the exported.
var (
	Administrator = administrator
	KubeconfigOf  = kubeconfigOf
)
