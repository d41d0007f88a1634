package admission

import (
	"slices"
	"strings"

	"slipway/internal/platform/auth"
	"slipway/internal/platform/httpapi"
)

// Roles of the table, short.
const (
	admin      = auth.RoleAdmin
	user       = auth.RoleUser
	viewer     = auth.RoleViewer
	kube       = auth.RoleKube
	agent      = auth.RoleAgent
	registrar  = auth.RoleRegistrar
	controller = auth.RoleController
	foreign    = auth.RoleForeign
	address    = auth.RoleAddress
	watcher    = auth.RoleWatcher
)

type roles = []auth.Role

// rule says who may call an operation, on what, and how large its body may be.
type rule struct {
	roles roles
	// body is how many bytes a body may have; zero: bodyLimit.
	body int64
	// selfScoped lets callers that are bound to an object call an operation without an object in its address: the handler checks that
	// the request concerns the caller's object.
	selfScoped bool
	// reclaimed lets the agent on an installed host, which has no token of its own, use the token of its InfraEnv while the host is
	// asked to return there.
	reclaimed bool
	// image opens the operation to the address of an image. The image service of the v2 API reads the InfraEnv for its kernel arguments.
	image bool
	// defines: the operation changes what a resource of Kubernetes defines, where one does. It is for the requests of that resource only.
	defines bool
	// secrets: the answer opens or reveals what belongs to a cluster or its hosts. Reads of users are in the audit.
	secrets bool
	// heavy: the answer may be large, or takes long to make. A credential has a few of them at once (Limits.HeavyReads).
	heavy bool
	// polls: the operation reads its host, and what its credential depends on with it.
	polls bool
}

// Limits of a request body, in bytes.
const (
	bodyLimit  = 4 << 20
	replyLimit = 32 << 20  // a connectivity report of a thousand hosts
	logsLimit  = 250 << 20 // docs/reference/wire.md, "Size of logs"
	uiLimit    = 64 << 10  // they are read and written with their cluster
)

// rules has a row for each operation of both documents. Scope.go decides on which objects a role may call it, and files.go which files
// it may read. Viewers may call nothing whose answer gives access to clusters or hosts: credentials, files with secrets, install-config
// with the pull secret, and InfraEnvs, whose image addresses contain a token. Users get their own tenant's, and change nothing of other
// tenants.
var rules = map[string]rule{
	"v2RegisterCluster":                   {roles: roles{admin, user, kube}},
	"v2ListClusters":                      {roles: roles{admin, user, viewer, watcher}, heavy: true},
	"v2GetCluster":                        {roles: roles{admin, user, kube, viewer, agent, controller, foreign, watcher}, heavy: true},
	"v2DeregisterCluster":                 {roles: roles{admin, user, kube}, defines: true},
	"V2UpdateCluster":                     {roles: roles{admin, user, kube}, defines: true, heavy: true},
	"v2UpdateClusterFinalizingProgress":   {roles: roles{controller, foreign}},
	"ListClusterHosts":                    {roles: roles{admin, user, viewer, agent, controller, foreign}, heavy: true},
	"GetClusterSupportedPlatforms":        {roles: roles{admin, user, viewer}},
	"RegisterInfraEnv":                    {roles: roles{admin, user, kube}},
	"ListInfraEnvs":                       {roles: roles{admin, user, watcher}, heavy: true},
	"GetInfraEnv":                         {roles: roles{admin, user, kube, foreign, address}, image: true},
	"UpdateInfraEnv":                      {roles: roles{admin, user, kube}, defines: true},
	"DeregisterInfraEnv":                  {roles: roles{admin, user, kube}, defines: true},
	"GetInfraEnvDownloadURL":              {roles: roles{admin, user}, secrets: true},
	"v2RegisterHost":                      {roles: roles{agent, registrar, foreign}},
	"v2ListHosts":                         {roles: roles{admin, user, kube, viewer, foreign}, heavy: true},
	"v2GetHost":                           {roles: roles{admin, user, kube, viewer}},
	"v2UpdateHost":                        {roles: roles{admin, user, kube}, defines: true},
	"v2DeregisterHost":                    {roles: roles{admin, user, kube}, defines: true},
	"v2GetNextSteps":                      {roles: roles{agent, registrar, foreign}, reclaimed: true, polls: true},
	"v2PostStepReply":                     {roles: roles{agent, registrar, foreign}, body: replyLimit, reclaimed: true},
	"v2UpdateHostInstallProgress":         {roles: roles{agent, controller, foreign}},
	"BindHost":                            {roles: roles{admin, user, kube}, defines: true},
	"UnbindHost":                          {roles: roles{admin, user, kube}, defines: true},
	"v2ResetHostValidation":               {roles: roles{admin, user}},
	"v2ResetHost":                         {roles: roles{admin, user}},
	"v2InstallHost":                       {roles: roles{admin, user, kube}},
	"v2UpdateHostInstallerArgs":           {roles: roles{admin, user, kube}, defines: true},
	"v2GetHostIgnition":                   {roles: roles{admin, user}, secrets: true},
	"v2UpdateHostIgnition":                {roles: roles{admin, user, kube}, defines: true},
	"v2DownloadInfraEnvFiles":             {roles: roles{admin, user, foreign, address}, image: true, secrets: true, heavy: true},
	"GetInfraEnvPresignedFileURL":         {roles: roles{admin, user}, secrets: true},
	"v2UpdateHostLogsProgress":            {roles: roles{agent, foreign}},
	"RegenerateInfraEnvSigningKey":        {roles: roles{admin, user}},
	"V2GetClusterDefaultConfig":           {roles: roles{admin, user, viewer}},
	"V2GetPresignedForClusterCredentials": {roles: roles{admin, user}, secrets: true},
	"V2GetCredentials":                    {roles: roles{admin, user, kube}, secrets: true},
	"V2DownloadClusterFiles":              {roles: roles{admin, user, agent, controller, foreign, address}, secrets: true, heavy: true},
	"V2DownloadClusterCredentials":        {roles: roles{admin, user, kube, controller, foreign}, secrets: true},
	"V2GetPresignedForClusterFiles":       {roles: roles{admin, user}, secrets: true},
	"DownloadMinimalInitrd":               {roles: roles{admin, user, address}, image: true, secrets: true, heavy: true},
	"v2GetClusterInstallConfig":           {roles: roles{admin, user}, secrets: true},
	"v2UpdateClusterInstallConfig":        {roles: roles{admin, user, kube}, defines: true},
	"V2ListManagedDomains":                {roles: roles{admin, user, viewer}},
	"v2InstallCluster":                    {roles: roles{admin, user, kube}},
	"V2CancelInstallation":                {roles: roles{admin, user, kube}},
	"v2ResetCluster":                      {roles: roles{admin, user, kube}},
	"TransformClusterToDay2":              {roles: roles{admin, user}},
	"TransformClusterToAddingHosts":       {roles: roles{admin, user, kube}},
	"v2GetPreflightRequirements":          {roles: roles{admin, user, viewer}},
	"V2ListOperatorProperties":            {roles: roles{admin, user, viewer}},
	"V2ListSupportedOperators":            {roles: roles{admin, user, viewer}},
	"V2ListBundles":                       {roles: roles{admin, user, viewer}},
	"V2GetBundle":                         {roles: roles{admin, user, viewer}},
	"v2UploadClusterIngressCert":          {roles: roles{controller, foreign}},
	"v2CompleteInstallation":              {roles: roles{controller, foreign}},
	"v2UpdateClusterLogsProgress":         {roles: roles{controller, foreign}},
	"V2ListClusterManifests":              {roles: roles{admin, user, kube, viewer}},
	"V2CreateClusterManifest":             {roles: roles{admin, user, kube}, defines: true},
	"V2UpdateClusterManifest":             {roles: roles{admin, user}, defines: true},
	"V2DeleteClusterManifest":             {roles: roles{admin, user, kube}, defines: true},
	"v2ListComponentVersions":             {roles: roles{admin, user, viewer}},
	"v2ListSupportedOpenshiftVersions":    {roles: roles{admin, user, viewer}},
	"v2ListReleaseSources":                {roles: roles{admin, user, viewer}},
	"v2DownloadClusterManifest":           {roles: roles{admin, user, kube}, secrets: true},
	"V2DownloadClusterLogs":               {roles: roles{admin, user, address}, secrets: true, heavy: true},
	"V2UploadLogs":                        {roles: roles{agent, controller, foreign}, body: logsLimit},
	"V2ListOfClusterOperators":            {roles: roles{controller, foreign}},
	"v2ReportMonitoredOperatorStatus":     {roles: roles{controller, foreign}},
	"v2DownloadHostIgnition":              {roles: roles{admin, user, agent, foreign}, secrets: true, heavy: true},
	"v2ListEvents":                        {roles: roles{admin, user, viewer, address, watcher}, selfScoped: true, heavy: true},
	"v2TriggerEvent":                      {roles: roles{controller, foreign}, selfScoped: true},
	"GetSupportedFeatures":                {roles: roles{admin, user, viewer}},
	"GetDetailedSupportedFeatures":        {roles: roles{admin, user, viewer}},
	"GetSupportedArchitectures":           {roles: roles{admin, user, viewer}},
	"v2ImportCluster":                     {roles: roles{admin, user, kube}},
	"v2RegisterDisconnectedCluster":       {roles: roles{admin, user}},
	"v2GetIgnoredValidations":             {roles: roles{admin, user, viewer}},
	"v2SetIgnoredValidations":             {roles: roles{admin, user, kube}, defines: true},
	"V2GetClusterUISettings":              {roles: roles{admin, user, viewer}},
	"V2UpdateClusterUISettings":           {roles: roles{admin, user}, body: uiLimit},
	"CommandCluster":                      {roles: roles{admin, user, kube}},
	"ShowWorkflow":                        {roles: roles{admin, user, viewer}},
	"CommandHost":                         {roles: roles{admin, user, kube}},
	"UndeleteCluster":                     {roles: roles{admin, user}},
	"ListDeletedClusters":                 {roles: roles{admin, user, viewer}, heavy: true},
	"ListChanges":                         {roles: roles{admin, user, kube, viewer}},
	"ShowBootArtifacts":                   {roles: roles{admin, user, kube}},
	"ShowUsage":                           {roles: roles{admin, user}},
	"ListKubeObjects":                     {roles: roles{admin, user, kube, viewer}, heavy: true},
	"ShowOnFailure":                       {roles: roles{admin, user, viewer}},
	"SetOnFailure":                        {roles: roles{admin, user}},
	"ShowClusterRelease":                  {roles: roles{admin, user, viewer}},
	"CreateToken":                         {roles: roles{admin}},
	"ListTokens":                          {roles: roles{admin, user, viewer}},
	"ListAudit":                           {roles: roles{admin, user, viewer, kube}},
	"RevokeToken":                         {roles: roles{admin, user, viewer}},
	"ListIssuerUsers":                     {roles: roles{admin}},
	"ForgetIssuerUser":                    {roles: roles{admin}},
	"SignIn":                              {roles: roles{admin, user, viewer}},
	"ListOSImages":                        {roles: roles{admin, user, viewer}},
	"ListInstallations":                   {roles: roles{admin, user, viewer}},
	"FindClusters":                        {roles: roles{admin, user, viewer}, heavy: true},
	"FindHosts":                           {roles: roles{admin, user, viewer}, heavy: true},
	"FindEvents":                          {roles: roles{admin, user, viewer}},
	"ShowTimeline":                        {roles: roles{admin, user, viewer}},
}

// Allowed lists the roles that may call an operation, for documentation.
func Allowed(operation string) []auth.Role { return rules[operation].roles }

// checkRole refuses an operation that is not of the caller's role.
func checkRole(caller Caller, operation string) error {
	allowed := rules[operation]
	if caller.Image && !allowed.image {
		return httpapi.Errorf(httpapi.ErrForbidden, "the address of an image does not open %s", operation)
	}
	if slices.Contains(allowed.roles, caller.Role) {
		return nil
	}
	names := make([]string, len(allowed.roles))
	for i, role := range allowed.roles {
		names[i] = string(role)
	}
	return httpapi.Errorf(httpapi.ErrForbidden, "require a credential of the role %s for %s, found %s",
		strings.Join(names, " or "), operation, caller.Role)
}
