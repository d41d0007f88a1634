#!/bin/bash
# Fetches the controller from the service, checks its hash and becomes it. SHA256SUMS are the hashes the service
# named when the cluster was installed. A service that was upgraded since has another program: its own hash counts
# where its certificate is verified. Nothing is given up: the service may be away.
set -u
cd "${HOME:=/tmp}" || exit 1
machine=$(uname -m)
url="${INVENTORY_URL%/}/controller/slipway-controller-$machine"
program="$HOME/slipway-controller"

fetch() { # address, file
  if command -v curl >/dev/null; then
    set -- "$1" "$2" --fail --silent --show-error --location --connect-timeout 20 --speed-limit 1 --speed-time 60
    [ "${SKIP_CERT_VERIFICATION:-}" != true ] || set -- "$@" --insecure
    [ -z "$bundle" ] || set -- "$@" --cacert "$bundle"
    address=$1 file=$2; shift 2
    curl "$@" --output "$file" "$address"
  else
    python3 -c 'import os, shutil, ssl, sys, urllib.request
trust = ssl.create_default_context(cafile=sys.argv[3] or None)
if os.environ.get("SKIP_CERT_VERIFICATION") == "true":
    trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
with urllib.request.urlopen(sys.argv[1], timeout=60, context=trust) as source, open(sys.argv[2], "wb") as target:
    shutil.copyfileobj(source, target)' "$1" "$2" "$bundle"
  fi
}

# trust writes what certificates are verified with: the host's, and the service's own.
trust() {
  bundle=""
  host=/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem
  for file in "$host" "${CA_CERT_PATH:-}"; do
    [ -z "$file" ] || [ ! -r "$file" ] || cat "$file"
  done > "$HOME/trust.pem"
  [ ! -s "$HOME/trust.pem" ] || bundle="$HOME/trust.pem"
}

# proxy takes the settings of the new cluster (Proxy/cluster) over: pods do not get them by themselves.
proxy() {
  [ -z "${HTTP_PROXY:-}${HTTPS_PROXY:-}${http_proxy:-}${https_proxy:-}" ] || return 0
  command -v oc >/dev/null || return 0
  api
  for setting in http https no; do
    value=$(oc get proxies.config.openshift.io cluster --request-timeout=20s --output "jsonpath={.status.${setting}Proxy}" 2>/dev/null) || return 0
    [ -z "$value" ] || export "${setting}_proxy=$value" "$(echo "${setting}_PROXY" | tr '[:lower:]' '[:upper:]')=$value"
  done
}

# api lets oc reach the API before the service network does.
api() {
  if [ -r /etc/kubernetes/bootstrap-secrets/kubeconfig ]; then
    export KUBECONFIG=/etc/kubernetes/bootstrap-secrets/kubeconfig
  elif [ -r /etc/kubernetes/apiserver-url.env ]; then
    set -a; . /etc/kubernetes/apiserver-url.env; set +a
  fi
}

good() {
  sum=$(sha256sum < "$program" | cut -d ' ' -f 1)
  ! grep -qx "$sum  $machine" <<< "$SHA256SUMS" || return 0
  [ "${SKIP_CERT_VERIFICATION:-}" != true ] && [ "${INVENTORY_URL#https:}" != "$INVENTORY_URL" ] &&
    fetch "$url.sha256" "$program.sha256" && [ "$(cat "$program.sha256")" = "$sum" ]
}

pause=2
while :; do
  trust
  proxy
  if [ -s "$program" ] && good; then break; fi
  if fetch "$url" "$program" && good; then break; fi
  rm -f "$program"
  echo "no program of the service for $machine: next try in $pause s" >&2
  sleep "$pause"
  pause=$((pause < 60 ? pause * 2 : 60))
done
chmod 0700 "$program"
exec "$program"
