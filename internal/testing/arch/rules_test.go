package arch_test

import "slices"

// nouns are pure: facts in, result out.
var nouns = []string{
	"internal/cluster/lifecycle", "internal/cluster/validation", "internal/cluster/openshift", "internal/cluster/features",
	"internal/cluster/operators",
	"internal/cluster/duesteps", "internal/cluster/steps", "internal/cluster/definition", "internal/cluster/nodeaddress",
	"internal/cluster/hardware", "internal/cluster/roles", "internal/cluster/pullsecret", "internal/cluster/access",
	"internal/cluster/registries", "internal/cluster/kubeletcsr",
	"internal/cluster/events", "internal/cluster/answers",
	"internal/hostconfig/installconfig", "internal/hostconfig/manifests", "internal/hostconfig/ignition",
	"internal/hostconfig/staticnet", "internal/hostconfig/useryaml", "internal/images/remaster", "internal/images/release",
}

// Packages that many rules allow.
var (
	formats = []string{"internal/model", "internal/wire", "internal/platform/redact"}
	tables  = append([]string{"internal/platform/store"}, formats...)
	files   = append([]string{"internal/platform/blob"}, tables...)
	// remote lists the packages for programs on hosts and commands of users.
	remote = append([]string{
		"internal/client", "internal/platform/programsig", "internal/client/contexts", "internal/platform/hostexec",
	}, formats...)
)

// allowed lists, for each package (or folder, ending in a slash), what else of ours it
// may import; the first match decides.
var allowed = []importRule{
	{"deploy/packages", nil, "holds files"},
	{"deploy/crds", nil, "holds the definitions that are generated from api/kube"},
	{"api/kube/agentinstall", nil, "types of resources"},
	{"api/kube/hiveext", []string{"api/kube/agentinstall"}, "types of resources"},
	{
		"api/kube", slices.Concat([]string{"api/kube/", "internal/platform/guard"}, remote),
		"a client of the service: never the store, a rule or Temporal",
	},
	{
		"api/kube/webhook",
		[]string{"api/kube/agentinstall", "api/kube/hive", "api/kube/hiveext", "internal/model", "internal/platform/certificates"},
		"decides by resources alone",
	},
	{
		"api/kube/",
		slices.Concat([]string{"api/kube/", "internal/cluster/registries", "internal/cluster/kubeletcsr", "internal/platform/guard"}, remote),
		"a client of the service: never the store, a rule or Temporal",
	},
	{"internal/wire", nil, "formats import nothing"},
	{"internal/testing/hostexectest", []string{"internal/platform/hostexec"}, "stands in for a host in tests"},
	{"internal/platform/hostexec", nil, "commands on a host import nothing"},
	{"internal/platform/idlememory", nil, "reads the memory of its own process only"},
	{"internal/platform/encryption", nil, "keys import nothing"},
	{"internal/platform/programsig", nil, "signatures are of texts"},
	{"internal/platform/keyservice", nil, "services seal whatever they are given"},
	{"internal/platform/redact", nil, "texts are redacted whatever they are about"},
	{"internal/testing/vaulttest", []string{"internal/platform/encryption"}, "stands in for a key service in tests"},
	{"internal/platform/userids", []string{"internal/platform/filelock", "internal/model"}, "leases ids, whatever runs as them"},
	{"internal/platform/sandbox", nil, "programs are run whatever they are"},
	{"internal/images/release/signature", []string{"internal/model"}, "verifies what it is given, and what stores have"},
	{
		"internal/images/release",
		slices.Concat([]string{
			"internal/platform/sandbox", "internal/platform/userids", "internal/platform/filelock", "internal/images/release/signature",
		}, formats, nouns),
		"a noun that runs the programs of releases",
	},
	{"internal/model", []string{"internal/wire"}, "nouns are made of formats"},
	{"internal/cluster/hardware", formats, "reads inventories: rules ask it, it asks no rules"},
	{
		"internal/cluster/nodeaddress", append([]string{"internal/cluster/hardware"}, formats...),
		"networks and addresses of hosts: rules ask it",
	},
	{"internal/cluster/access", formats, "reads texts: the fields of the API and the install-config ask it"},
	{"internal/cluster/answers", slices.Concat(formats, nouns), "what is shown of nouns, without secrets"},
	{"internal/cluster/kubeletcsr", nil, "reads certificate requests: both controllers ask it"},
	{"internal/cluster/registries", formats, "reads texts: the service and the controllers ask it"},
	{"internal/cluster/pullsecret", nil, "the installer imports it: reads texts only"},
	{"internal/cluster/steps", formats, "the agent imports it: no rules, no weight"},
	{"internal/testing/tartest", nil, "reads what tests are given"},
	{"internal/testing/realinstall", nil, "data for tests"},
	{"internal/platform/spool", nil, "keeps bytes"},
	{"internal/platform/coding", nil, "compresses bytes"},
	{"internal/platform/fair", nil, "gives way"},
	{"internal/platform/lru", nil, "keeps values"},
	{"internal/platform/filelock", nil, "locks files"},
	{"internal/testing/isotest", nil, "images for tests"},
	{"internal/testing/pgtest", nil, "a test server"},
	{"internal/testing/healthy", []string{"internal/wire"}, "answers steps in tests"},
	{
		"internal/testing/postgrestest",
		[]string{"internal/platform/postgres", "internal/testing/await"},
		"the service's own server, in tests",
	},
	{"internal/testing/issuer", nil, "an issuer for tests"},
	{"internal/platform/oidc", []string{"internal/model", "internal/platform/auth"}, "users of an issuer are callers"},
	{"internal/testing/usertoken", []string{"internal/model", "internal/platform/auth"}, "tokens for tests"},
	{
		"internal/testing/fixtures",
		[]string{
			"internal/platform/store", "internal/platform/blob", "internal/platform/encryption", "internal/testing/pgtest",
			"internal/model", "internal/testing/kepttexts",
		},
		"clusters and hosts for tests",
	},
	{
		"internal/testing/kepttexts", append([]string{"internal/cluster/answers"}, tables...), "compares texts with rows in tests",
	},
	{"internal/testing/arch", nil, "looks from outside"},
	{"internal/testing/words", nil, "reads texts only"},
	{"internal/testing/await", nil, "waits in tests"},
	{"internal/testing/forkedchild", nil, "holds descriptors in tests"},
	{"internal/testing/httpclient", []string{"internal/wire"}, "requests of tests"},
	{"internal/testing/unraced", nil, "says how tests run"},
	{"internal/testing/matrix", nil, "counts cells of tests"},
	{"internal/testing/pebble", []string{"internal/testing/await"}, "an ACME server for tests"},
	{"internal/testing/docpage", nil, "prints what tests give it"},
	{"internal/testing/histories", nil, "keeps files"},
	{"internal/testing/recorded", nil, "data for tests"},
	{"internal/platform/store", append([]string{"internal/platform/lru"}, formats...), "tables hold nouns"},
	{"internal/platform/blob", []string{"internal/model"}, "objects are referred to by nouns"},
	{"internal/platform/auth", append([]string{"internal/platform/lru"}, formats...), "identities are made of nouns"},
	{"internal/platform/audit", []string{"internal/model", "internal/platform/auth"}, "records commands, whatever they do"},
	{
		"internal/platform/signin",
		[]string{"internal/model", "internal/platform/audit", "internal/platform/auth"},
		"asks users of pages for their tokens",
	},
	{"internal/client/contexts", formats, "keeps how services are reached"},
	{"internal/client", formats, "speaks the wire"},
	{"internal/platform/guard", []string{"internal/model", "internal/platform/httpapi"}, "stands before handlers, whatever they do"},
	{"internal/platform/certificates", nil, "certificates import nothing"},
	{"internal/platform/metrics", []string{"internal/cluster/events", "internal/model"}, "counts events, whoever writes them"},
	{"internal/images/updateservice", []string{"internal/cluster/openshift"}, "asks the update service"},
	// The floors of the service, from the ground: transitions, evaluation, then discovery and reports; the orchestrator is above
	// activities and workflows.
	{"internal/service/transitions", slices.Concat(tables, nouns), "changes of status in the database"},
	{
		"internal/service/evaluation", slices.Concat([]string{"internal/service/transitions"}, tables, nouns),
		"evaluates nouns against tables",
	},
	{
		"internal/service/discovery",
		slices.Concat([]string{
			"internal/platform/programsig", "internal/service/transitions", "internal/service/evaluation", "internal/service/quota",
		}, tables, nouns),
		"agents only",
	},
	{"internal/service/quota", slices.Concat([]string{"internal/cluster/events"}, tables), "counts bytes, whoever sends them"},
	{"internal/service/reports", slices.Concat([]string{"internal/service/transitions"}, files, nouns), "records reports"},
	{"internal/images/download", []string{"internal/images/remaster", "internal/platform/fair"}, "sends layouts, whatever they are"},
	{"internal/platform/httpapi", formats, "maps errors of nouns to status codes"},
	{"internal/images/imageurl", slices.Concat([]string{"internal/platform/auth", "internal/model"}, nouns), "addresses of images"},
	{
		"internal/images/imageservice",
		slices.Concat([]string{
			"internal/images/liveisos", "internal/images/download", "internal/platform/auth", "internal/platform/httpapi",
			"internal/platform/lru",
		}, formats, nouns),
		"serves images, and asks the API over HTTP",
	},
	{
		"internal/images/liveisos",
		[]string{"internal/model", "internal/cluster/openshift", "internal/images/remaster", "internal/platform/filelock"},
		"files of the operating system, and what is offered",
	},
	{
		"internal/service/rotation", slices.Concat([]string{"internal/platform/encryption"}, tables),
		"encrypts again what tables and files hold",
	},
	{
		"internal/service/orchestrator",
		slices.Concat([]string{
			"internal/cluster/lifecycle", "internal/cluster/events", "internal/service/transitions", "internal/platform/encryption",
			"workflows", "activities",
		}, tables),
		"the bridge to Temporal",
	},
	{"internal/platform/engine", []string{"internal/platform/certificates"}, "the embedded servers know no nouns"},
	{"internal/platform/frontend", formats, "reaches a Temporal frontend"},
	{"internal/platform/postgres", []string{"internal/platform/filelock"}, "runs a PostgreSQL server"},
	{"internal/version", nil, "one number"},
	{"internal/cli/", slices.Concat([]string{"internal/cli/", "internal/cli"}, remote), "commands for users speak the API"},
	{"internal/cli", slices.Concat([]string{"internal/cli/"}, remote), "commands for users speak the API"},
	{
		"internal/sim/",
		slices.Concat([]string{
			"internal/cli", "internal/cli/", "internal/cluster/openshift", "agent", "agent/", "installer", "installer/",
			"controller", "internal/sim/", "internal/sim", "internal/hostconfig/ignition", "internal/hostconfig/installconfig",
		}, remote),
		"machines run the real agent",
	},
	{
		"internal/sim",
		slices.Concat([]string{
			"agent", "agent/", "installer", "installer/", "controller", "internal/sim/", "internal/hostconfig/ignition",
			"internal/cluster/steps",
		}, remote),
		"machines run the real agent",
	},
	{"workflows", slices.Concat([]string{"activities", "internal/cluster/steps"}, formats), "deterministic: no I/O"},
	{
		"activities", slices.Concat([]string{"internal/service/transitions", "internal/service/reports"}, files, nouns),
		"phases in the database",
	},
	{"worker", []string{"workflows", "activities", "internal/version"}, "the list of both"},
	{
		"api/admission",
		slices.Concat([]string{
			"internal/platform/audit", "internal/platform/auth", "internal/platform/httpapi", "internal/platform/spool",
			"internal/platform/fair", "internal/cluster/lifecycle",
		}, tables),
		"before handlers: never a service",
	},
	{
		"api",
		slices.Concat([]string{
			"api/admission", "internal/platform/auth", "internal/service/discovery", "internal/service/transitions", "internal/service/quota",
			"internal/images/imageurl", "internal/platform/audit", "internal/platform/httpapi",
			"internal/platform/spool", "internal/platform/coding", "internal/platform/fair",
		}, files, nouns),
		"never activities or workflows",
	},
	{"agent/", slices.Concat([]string{"agent", "agent/", "installer"}, remote, nouns), "never the store or Temporal"},
	{"agent", slices.Concat([]string{"agent/", "installer"}, remote, nouns), "never the store or Temporal"},
	{"installer/", slices.Concat([]string{"installer", "installer/"}, remote, nouns), "never the store or Temporal"},
	{"installer", slices.Concat([]string{"installer/"}, remote, nouns), "never the store or Temporal"},
	{"controller", slices.Concat(remote, nouns), "never the store or Temporal"},
	{"deploy/images/oci", nil, "packs files, whatever they are"},
	{"deploy/images", []string{"deploy/images/oci"}, "the command that builds container images"},
}

// importRule lists our packages that a package, or all below a folder, may import.
type importRule struct {
	pkg     string
	imports []string
	reason  string
}
