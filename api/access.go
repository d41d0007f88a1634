package api

import (
	"slices"
	"strings"

	"slipway/internal/platform/auth"
	"slipway/internal/platform/httpapi"
)

// Roles of the table, short.
const (
	admin      = auth.RoleAdmin
	viewer     = auth.RoleViewer
	agent      = auth.RoleAgent
	registrar  = auth.RoleRegistrar
	controller = auth.RoleController
	foreign    = auth.RoleForeign
	address    = auth.RoleAddress
	watcher    = auth.RoleWatcher
)

// access lists the roles that may call each operation. On which objects is decided in scope.go, which files in filesOf. Viewers
// have none whose answer gives access to clusters or hosts: credentials, files with secrets, install-config with the pull secret,
// and InfraEnvs, whose image addresses contain a token.
var access = map[string][]auth.Role{
	"v2RegisterCluster":                   {admin},
	"v2ListClusters":                      {admin, viewer, watcher},
	"v2GetCluster":                        {admin, viewer, agent, controller, foreign, watcher},
	"v2DeregisterCluster":                 {admin},
	"V2UpdateCluster":                     {admin},
	"v2UpdateClusterFinalizingProgress":   {controller, foreign},
	"ListClusterHosts":                    {admin, viewer, agent, controller, foreign},
	"GetClusterSupportedPlatforms":        {admin, viewer},
	"RegisterInfraEnv":                    {admin},
	"ListInfraEnvs":                       {admin, watcher},
	"GetInfraEnv":                         {admin, foreign, address},
	"UpdateInfraEnv":                      {admin},
	"DeregisterInfraEnv":                  {admin},
	"GetInfraEnvDownloadURL":              {admin},
	"v2RegisterHost":                      {agent, registrar, foreign},
	"v2ListHosts":                         {admin, viewer, foreign},
	"v2GetHost":                           {admin, viewer},
	"v2UpdateHost":                        {admin},
	"v2DeregisterHost":                    {admin},
	"v2GetNextSteps":                      {agent, registrar, foreign},
	"v2PostStepReply":                     {agent, registrar, foreign},
	"v2UpdateHostInstallProgress":         {agent, controller, foreign},
	"BindHost":                            {admin},
	"UnbindHost":                          {admin},
	"v2ResetHostValidation":               {admin},
	"v2ResetHost":                         {admin},
	"v2InstallHost":                       {admin},
	"v2UpdateHostInstallerArgs":           {admin},
	"v2GetHostIgnition":                   {admin},
	"v2UpdateHostIgnition":                {admin},
	"v2DownloadInfraEnvFiles":             {admin, foreign, address},
	"GetInfraEnvPresignedFileURL":         {admin},
	"v2UpdateHostLogsProgress":            {agent, foreign},
	"RegenerateInfraEnvSigningKey":        {admin},
	"V2GetClusterDefaultConfig":           {admin, viewer},
	"V2GetPresignedForClusterCredentials": {admin},
	"V2GetCredentials":                    {admin},
	"V2DownloadClusterFiles":              {admin, agent, controller, foreign, address},
	"V2DownloadClusterCredentials":        {admin, controller, foreign},
	"V2GetPresignedForClusterFiles":       {admin},
	"DownloadMinimalInitrd":               {admin, address},
	"v2GetClusterInstallConfig":           {admin},
	"v2UpdateClusterInstallConfig":        {admin},
	"V2ListManagedDomains":                {admin, viewer},
	"v2InstallCluster":                    {admin},
	"V2CancelInstallation":                {admin},
	"v2ResetCluster":                      {admin},
	"TransformClusterToDay2":              {admin},
	"TransformClusterToAddingHosts":       {admin},
	"v2GetPreflightRequirements":          {admin, viewer},
	"V2ListOperatorProperties":            {admin, viewer},
	"V2ListSupportedOperators":            {admin, viewer},
	"V2ListBundles":                       {admin, viewer},
	"V2GetBundle":                         {admin, viewer},
	"v2UploadClusterIngressCert":          {controller, foreign},
	"v2CompleteInstallation":              {controller, foreign},
	"v2UpdateClusterLogsProgress":         {controller, foreign},
	"V2ListClusterManifests":              {admin, viewer},
	"V2CreateClusterManifest":             {admin},
	"V2UpdateClusterManifest":             {admin},
	"V2DeleteClusterManifest":             {admin},
	"v2ListComponentVersions":             {admin, viewer},
	"v2ListSupportedOpenshiftVersions":    {admin, viewer},
	"v2ListReleaseSources":                {admin, viewer},
	"v2DownloadClusterManifest":           {admin},
	"V2DownloadClusterLogs":               {admin, address},
	"V2UploadLogs":                        {agent, controller, foreign},
	"V2ListOfClusterOperators":            {controller, foreign},
	"v2ReportMonitoredOperatorStatus":     {controller, foreign},
	"v2DownloadHostIgnition":              {admin, agent, foreign},
	"v2ListEvents":                        {admin, viewer, address, watcher},
	"v2TriggerEvent":                      {controller, foreign},
	"GetSupportedFeatures":                {admin, viewer},
	"GetDetailedSupportedFeatures":        {admin, viewer},
	"GetSupportedArchitectures":           {admin, viewer},
	"v2ImportCluster":                     {admin},
	"v2RegisterDisconnectedCluster":       {admin},
	"v2GetIgnoredValidations":             {admin, viewer},
	"v2SetIgnoredValidations":             {admin},
	"V2GetClusterUISettings":              {admin, viewer},
	"V2UpdateClusterUISettings":           {admin},
	"CommandCluster":                      {admin},
	"ShowWorkflow":                        {admin, viewer},
	"CommandHost":                         {admin},
	"ListOSImages":                        {admin, viewer},
}

// Allowed lists the roles that may call an operation, for documentation.
func Allowed(operation string) []auth.Role { return access[operation] }

// filesOf are the files of a cluster that machines may read; users read all.
var filesOf = map[auth.Role][]string{
	// The bootstrap host takes its config; those of the others come as their host's own.
	agent: {"bootstrap.ign"},
	// The administrator's kubeconfig applies what comes after the installation, with rights that its service account lacks.
	controller: {"kubeconfig-noingress", "custom_manifests.json"},
	// Those that openshift/assisted-installer asks for (src/installer/installer.go,
	// src/assisted_installer_controller/assisted_installer_controller.go).
	foreign: {"bootstrap.ign", "master.ign", "worker.ign", "arbiter.ign", "kubeconfig-noingress", "custom_manifests.json"},
}

// checkRole refuses an operation that is not of the caller's role.
func checkRole(actor Actor, operation string) error {
	roles := access[operation]
	if slices.Contains(roles, actor.Role) {
		return nil
	}
	names := make([]string, len(roles))
	for i, role := range roles {
		names[i] = string(role)
	}
	return httpapi.Errorf(httpapi.ErrForbidden, "require a credential of the role %s for %s, found %s",
		strings.Join(names, " or "), operation, actor.Role)
}

// checkFile refuses a file of a cluster that is not for the caller.
func checkFile(actor Actor, name string) error {
	if actor.Role == agent && !actor.Bootstrap {
		return httpapi.Errorf(httpapi.ErrForbidden, "require the host that bootstraps the cluster for %s", name)
	}
	allowed, limited := filesOf[actor.Role]
	if limited && !slices.Contains(allowed, name) {
		return httpapi.Errorf(httpapi.ErrForbidden, "require a credential of the role admin for %s, found %s", name, actor.Role)
	}
	return nil
}
