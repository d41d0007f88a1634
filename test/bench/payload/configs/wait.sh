#!/bin/sh
# Runs a command once the bench's programs are there.
set -eu
until [ -e /opt/bench/.unpacked ]; do
    sleep 1
done
exec "$@"
