package engine

import "go.temporal.io/server/common/headers"

// ServerVersion is the version of the bundled Temporal server.
const ServerVersion = headers.ServerVersion
