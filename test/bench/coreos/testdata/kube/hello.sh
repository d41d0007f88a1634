#!/bin/sh
# What the job runs: it says what it was given, and asks the API as its service account.
set -eu
secrets=/var/run/secrets/kubernetes.io/serviceaccount
echo "arguments: $*"
echo "environment: $WORD"
echo "mounted: $(cat /run/words/word)"
echo "alias: $(grep alias.example /etc/hosts | tr '\t' ' ')"
echo "service: $KUBERNETES_SERVICE_HOST"
curl --silent --fail --cacert $secrets/ca.crt --header "Authorization: Bearer $(cat $secrets/token)" \
  https://127.0.0.1:6443/api/v1/namespaces/default/configmaps/words | grep -q 'from the map' && echo "asked the API"
