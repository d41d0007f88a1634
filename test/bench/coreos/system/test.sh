#!/bin/sh
# Builds what the tests of the cache ask for.
#   TEXT, FAIL
set -eu
[ -z "${FAIL:-}" ] || { echo "$FAIL" >&2; exit 1; }
echo "$TEXT" >text
