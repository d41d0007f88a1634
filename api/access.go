package api

import (
	"context"
	"errors"
	"slices"
	"strings"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/httpapi"
)

// Roles of the table, short.
const (
	admin      = auth.RoleAdmin
	user       = auth.RoleUser
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
// and InfraEnvs, whose image addresses contain a token. Users have those of their organization, and change none of others.
var access = map[string][]auth.Role{
	"v2RegisterCluster":                   {admin, user},
	"v2ListClusters":                      {admin, user, viewer, watcher},
	"v2GetCluster":                        {admin, user, viewer, agent, controller, foreign, watcher},
	"v2DeregisterCluster":                 {admin, user},
	"V2UpdateCluster":                     {admin, user},
	"v2UpdateClusterFinalizingProgress":   {controller, foreign},
	"ListClusterHosts":                    {admin, user, viewer, agent, controller, foreign},
	"GetClusterSupportedPlatforms":        {admin, user, viewer},
	"RegisterInfraEnv":                    {admin, user},
	"ListInfraEnvs":                       {admin, user, watcher},
	"GetInfraEnv":                         {admin, user, foreign, address},
	"UpdateInfraEnv":                      {admin, user},
	"DeregisterInfraEnv":                  {admin, user},
	"GetInfraEnvDownloadURL":              {admin, user},
	"v2RegisterHost":                      {agent, registrar, foreign},
	"v2ListHosts":                         {admin, user, viewer, foreign},
	"v2GetHost":                           {admin, user, viewer},
	"v2UpdateHost":                        {admin, user},
	"v2DeregisterHost":                    {admin, user},
	"v2GetNextSteps":                      {agent, registrar, foreign},
	"v2PostStepReply":                     {agent, registrar, foreign},
	"v2UpdateHostInstallProgress":         {agent, controller, foreign},
	"BindHost":                            {admin, user},
	"UnbindHost":                          {admin, user},
	"v2ResetHostValidation":               {admin, user},
	"v2ResetHost":                         {admin, user},
	"v2InstallHost":                       {admin, user},
	"v2UpdateHostInstallerArgs":           {admin, user},
	"v2GetHostIgnition":                   {admin, user},
	"v2UpdateHostIgnition":                {admin, user},
	"v2DownloadInfraEnvFiles":             {admin, user, foreign, address},
	"GetInfraEnvPresignedFileURL":         {admin, user},
	"v2UpdateHostLogsProgress":            {agent, foreign},
	"RegenerateInfraEnvSigningKey":        {admin, user},
	"V2GetClusterDefaultConfig":           {admin, user, viewer},
	"V2GetPresignedForClusterCredentials": {admin, user},
	"V2GetCredentials":                    {admin, user},
	"V2DownloadClusterFiles":              {admin, user, agent, controller, foreign, address},
	"V2DownloadClusterCredentials":        {admin, user, controller, foreign},
	"V2GetPresignedForClusterFiles":       {admin, user},
	"DownloadMinimalInitrd":               {admin, user, address},
	"v2GetClusterInstallConfig":           {admin, user},
	"v2UpdateClusterInstallConfig":        {admin, user},
	"V2ListManagedDomains":                {admin, user, viewer},
	"v2InstallCluster":                    {admin, user},
	"V2CancelInstallation":                {admin, user},
	"v2ResetCluster":                      {admin, user},
	"TransformClusterToDay2":              {admin, user},
	"TransformClusterToAddingHosts":       {admin, user},
	"v2GetPreflightRequirements":          {admin, user, viewer},
	"V2ListOperatorProperties":            {admin, user, viewer},
	"V2ListSupportedOperators":            {admin, user, viewer},
	"V2ListBundles":                       {admin, user, viewer},
	"V2GetBundle":                         {admin, user, viewer},
	"v2UploadClusterIngressCert":          {controller, foreign},
	"v2CompleteInstallation":              {controller, foreign},
	"v2UpdateClusterLogsProgress":         {controller, foreign},
	"V2ListClusterManifests":              {admin, user, viewer},
	"V2CreateClusterManifest":             {admin, user},
	"V2UpdateClusterManifest":             {admin, user},
	"V2DeleteClusterManifest":             {admin, user},
	"v2ListComponentVersions":             {admin, user, viewer},
	"v2ListSupportedOpenshiftVersions":    {admin, user, viewer},
	"v2ListReleaseSources":                {admin, user, viewer},
	"v2DownloadClusterManifest":           {admin, user},
	"V2DownloadClusterLogs":               {admin, user, address},
	"V2UploadLogs":                        {agent, controller, foreign},
	"V2ListOfClusterOperators":            {controller, foreign},
	"v2ReportMonitoredOperatorStatus":     {controller, foreign},
	"v2DownloadHostIgnition":              {admin, user, agent, foreign},
	"v2ListEvents":                        {admin, user, viewer, address, watcher},
	"v2TriggerEvent":                      {controller, foreign},
	"GetSupportedFeatures":                {admin, user, viewer},
	"GetDetailedSupportedFeatures":        {admin, user, viewer},
	"GetSupportedArchitectures":           {admin, user, viewer},
	"v2ImportCluster":                     {admin, user},
	"v2RegisterDisconnectedCluster":       {admin, user},
	"v2GetIgnoredValidations":             {admin, user, viewer},
	"v2SetIgnoredValidations":             {admin, user},
	"V2GetClusterUISettings":              {admin, user, viewer},
	"V2UpdateClusterUISettings":           {admin, user},
	"CommandCluster":                      {admin, user},
	"ShowWorkflow":                        {admin, user, viewer},
	"CommandHost":                         {admin, user},
	"ShowOnFailure":                       {admin, user, viewer},
	"SetOnFailure":                        {admin, user},
	"CreateToken":                         {admin},
	"ListTokens":                          {admin, user, viewer},
	"RevokeToken":                         {admin, user, viewer},
	"SignIn":                              {admin, user, viewer},
	"ListOSImages":                        {admin, user, viewer},
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

// forImages are the operations behind the address of an image. The image service of the v2 API reads the InfraEnv for its kernel
// arguments.
var forImages = map[string]bool{"v2DownloadInfraEnvFiles": true, "DownloadMinimalInitrd": true, "GetInfraEnv": true}

// checkRole refuses an operation that is not of the caller's role.
func checkRole(actor Actor, operation string) error {
	roles := access[operation]
	if actor.Image && !forImages[operation] {
		return httpapi.Errorf(httpapi.ErrForbidden, "the address of an image does not open %s", operation)
	}
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
		return httpapi.Errorf(httpapi.ErrForbidden,
			"require the host that bootstraps the cluster, from its preparation until it reboots, for %s", name)
	}
	allowed, limited := filesOf[actor.Role]
	if limited && !slices.Contains(allowed, name) {
		return httpapi.Errorf(httpapi.ErrForbidden, "require a credential of the role admin for %s, found %s", name, actor.Role)
	}
	return nil
}

// checkFileInTime refuses files of a cluster to agents and installers of other implementations, whose token images contain, when none of
// their machines needs them: bootstrap.ign holds the cluster's keys, and is for its bootstrap host until that leaves the discovery image.
func (s *server) checkFileInTime(ctx context.Context, actor Actor, c *model.Cluster, name string) error {
	if actor.Role != foreign {
		return nil
	}
	if name != "bootstrap.ign" {
		if c.Status == model.ClusterPreparingForInstallation || lifecycle.UnderInstallation.Has(c.Status) || name == "custom_manifests.json" {
			return nil
		}
		return httpapi.Errorf(httpapi.ErrForbidden, "require a cluster that is being installed for %s, found status %s", name, c.Status)
	}
	status, stage, err := s.Store.BootstrapState(ctx, c.ID)
	if err != nil && !errors.Is(err, model.ErrNotFound) {
		return err
	}
	if !lifecycle.FetchesConfigs(status, stage) {
		return httpapi.Errorf(httpapi.ErrForbidden, "%s is for the bootstrap host, from its preparation until it reboots", name)
	}
	return nil
}

// checkConfigInTime refuses the config of a host to agents, while the host is not being installed from the discovery image.
func checkConfigInTime(actor Actor, h *model.Host) error {
	machine := actor.Role == agent || actor.Role == foreign
	if machine && !lifecycle.FetchesConfigs(h.Status, h.Stage) {
		return httpapi.Errorf(httpapi.ErrForbidden,
			"the Ignition config of host %s is for its agent from the preparation until the host reboots", hostName(h))
	}
	return nil
}
