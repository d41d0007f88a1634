// Package recorded holds one session with a running service of the v2 API that others
// wrote: every request and reply from the first catalogue to the inventory of a host.
// Only tests import it.
//
// The service is openshift/assisted-service at commit 063b257950f7. Its sentences are
// replaced by the text "<our own words>"; ids, codes, fields and values are as recorded.
package recorded

import _ "embed"

//go:embed exchanges.json
var session []byte

// Session returns the exchanges in order, as a JSON list of objects with the members
// request ("METHOD /path"), body, status and reply.
func Session() []byte { return session }
