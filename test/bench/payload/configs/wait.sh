#!/bin/sh
# wait FILE COMMAND...: runs a command once a file is there.
set -eu
file=$1
shift
until [ -e "$file" ]; do
    sleep 5 # a process of its own each time
done
exec "$@"
