package words_test

import "regexp"

// phrases are not used in comments, string literals, scripts and documentation. They are matched without regard to
// case; white space in a phrase matches line ends and the comment signs of the next line.
var phrases = compiled([]phrase{
	{`for ever`, "indefinitely, without a limit"},
	{`(go|goes|going|went|gone) on`, "continues, proceeds, happens"},
	{`on offer`, "available, offered"},
	{`nobody`, "no caller, no user, no host; or the passive voice"},
	{`(is|are|was|were|be|been|being) told`, "is notified, receives, is given"},
	{`tells`, "returns, reports, shows; distinguishes A from B"},
	{`those (that )?there (is|are|was|were)`, "the existing ones, the known ones"},
	{`(that|which|what|who) there (is|are|was|were) not`, "unknown, missing, which does not exist"},
	{`(that|which|what|who) there (is|are|was|were)[.,;:)"]`, "the existing ones"},
	{`(that|which|who) (is|are) none`, "an invalid label, not a number; which does not exist"},
	{`(has|have|had) not[.,;:)"]`, "does not have; lacks"},
	{`discovery environments?`, "InfraEnv"},
	{`(take|takes|taken|took) notice`, "registers, records"},
	{`other makes?`, "other implementations, other vendors"},
	{`the door`, "the authorization check; the entry point"},
	{`in (its|his|her|their|our|whose) hands?`, "is being installed by; holds, controls"},
	{`at work`, "running; X runs Y"},
	{`(mend|mends|mended|mending)`, "fixes, repairs, corrects"},
	{`(welcomes|welcomed)`, "admits, accepts"},
	{`(is|are|was|were|be|been) taken (in|back)`, "is accepted; returns to"},
	{`who may do what`, "authentication and authorization"},
	{`why it is so`, "design decisions"},
	{`what nobody uses`, "idle objects"},
})

// names are not used for functions, variables, fields or types.
var names = map[string]string{
	"judge":   "evaluate",
	"Judge":   "Evaluate",
	"picture": "snapshot",
	"pulse":   "refreshMark",
	"told":    "onProgress, or a name for what is reported",
	"Told":    "OnProgress",
	"welcome": "admit",
	"world":   "state; recorder, for what a test records",
}

// calls are names that no function has.
var calls = map[string]string{
	"final": "nonRetryable",
}

// exceptions are the places where a phrase or a name of the list has to stand.
var exceptions = []exception{
	{"internal/testing/words/list_test.go", "", "the list itself"},
	{"internal/testing/words/words_test.go", "", "texts that the check has to refuse"},
	{"internal/testing/postgrestest/postgrestest.go", "nobody", "the system's user of that name"},
	{"internal/testing/pgtest/pgtest.go", "nobody", "the system's user of that name"},
}

type phrase struct{ pattern, instead string }

type exception struct {
	file  string
	found string // the word of the list as it stands there; empty: all of the file
	why   string
}

type matcher struct {
	*regexp.Regexp
	instead string
}
