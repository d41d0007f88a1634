#!/bin/sh
# Runs a cluster of one node out of the archive's programs, and a job on it. It must be
# process 1 of namespaces of its own (network, mounts, processes, name of the host): with
# it all ends.
#   DIR   bin/ (the archive), pki/, objects.yaml, kubelet.yaml, cri.json, hello.sh
# Prints a line for each thing that was reached.
set -eu
cd "$DIR"
export PATH="$DIR/bin:$PATH" KUBECONFIG="$DIR/pki/admin.kubeconfig"
address=10.88.0.11
ip link set lo up
ip link add lan type veth peer name other
ip link set other up
ip address add "$address/24" dev lan
ip link set lan up
ip route add default via 10.88.0.1
hostname master-0
mkdir -p -m 700 etcd cri log
# The kubelet, and pods, have fixed places for some files; nothing is left there.
for folder in /run /var/lib /var/log; do mount -t tmpfs tmpfs $folder; done

fail() {
  kubectl logs --all-containers job/hello || true
  echo "FAIL: $1"
  tail -n 15 log/*
  exit 1
}

# within SECONDS COMMAND...: until a command succeeds.
within() {
  tries=$(($1 * 4))
  shift
  until "$@" >/dev/null 2>&1; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || fail "$*"
    sleep 0.25
  done
}

etcd --name master-0 --data-dir etcd --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
  --listen-peer-urls http://127.0.0.1:2380 --initial-advertise-peer-urls http://127.0.0.1:2380 --initial-cluster master-0=http://127.0.0.1:2380 \
  --heartbeat-interval 500 --election-timeout 2500 --logger zap --log-level warn >log/etcd 2>&1 &
kube-apiserver --etcd-servers=http://127.0.0.1:2379 --bind-address=0.0.0.0 --advertise-address=$address \
  --tls-cert-file=pki/apiserver.crt --tls-private-key-file=pki/apiserver.key --client-ca-file=pki/ca.crt --token-auth-file=pki/tokens.csv \
  --service-cluster-ip-range=172.30.0.0/16 --service-account-issuer=https://kubernetes.default.svc \
  --service-account-key-file=pki/ca.key --service-account-signing-key-file=pki/ca.key --authorization-mode=Node,RBAC --allow-privileged=true \
  --kubelet-certificate-authority=pki/ca.crt --kubelet-client-certificate=pki/admin.crt --kubelet-client-key=pki/admin.key \
  --kubelet-preferred-address-types=InternalIP --enable-priority-and-fairness=false --profiling=false \
  --disable-admission-plugins=LimitRanger,DefaultStorageClass,PersistentVolumeClaimResize,DefaultTolerationSeconds,MutatingAdmissionWebhook,ValidatingAdmissionWebhook,ResourceQuota,StorageObjectInUseProtection,PodGroupProtection,RuntimeClass,ClusterTrustBundleAttest,DefaultIngressClass,PodSecurity,PodTopologyLabels,MutatingAdmissionPolicy,ValidatingAdmissionPolicy,NodeDeclaredFeatureValidator,PodResizeValidator,PodGroupWorkloadExists,JobValidation \
  >log/apiserver 2>&1 &
within 60 kubectl get --raw /readyz
echo "apiserver ready"
kube-controller-manager --kubeconfig=pki/admin.kubeconfig --authentication-skip-lookup=true --bind-address=127.0.0.1 --leader-elect=false \
  --controllers=certificatesigningrequest-signing-controller,serviceaccount-controller,serviceaccount-token-controller,root-ca-certificate-publisher-controller,job-controller,node-lifecycle-controller,namespace-controller,clusterrole-aggregation-controller \
  --service-account-private-key-file=pki/ca.key --root-ca-file=pki/ca.crt --cluster-signing-cert-file=pki/ca.crt --cluster-signing-key-file=pki/ca.key \
  --profiling=false >log/controller-manager 2>&1 &
kubectl apply -f objects.yaml >/dev/null
runtime() { bench-cri --listen unix:///run/bench-cri.sock --config cri.json --root "$DIR/cri" >>log/cri 2>&1 & }
runtime
first=$!
kubelet --config=kubelet.yaml --bootstrap-kubeconfig=pki/bootstrap.kubeconfig --kubeconfig=/var/lib/kubelet/kubeconfig --node-ip=$address >log/kubelet 2>&1 &

# approve SIGNER: the next request for it, and no other.
approve() {
  name=$(kubectl get csr --no-headers | awk -v signer="kubernetes.io/$1" '$3 == signer && /Pending/ { print $1 }')
  [ -n "$name" ] && kubectl certificate approve "$name"
}
within 30 approve kube-apiserver-client-kubelet
within 30 approve kubelet-serving
kubectl wait --for=condition=Ready node/master-0 --timeout=60s >/dev/null || fail "the node is not ready"
echo "node ready"
kubectl wait --for=condition=Complete job/hello --timeout=60s >/dev/null || fail "the job does not complete"
echo "job complete"
within 20 kubectl logs job/hello
kubectl logs job/hello | sed 's/^/log: /'

# A container that goes on while its runtime is away is not begun again.
kubectl wait --for=condition=Ready pod/sleeper pod/idle --timeout=60s >/dev/null || fail "the pods are not ready"
kill "$first"
wait "$first" || true
runtime
within 20 kubectl logs sleeper
kubectl delete pod sleeper idle --timeout=60s >/dev/null || fail "the pods do not end"
echo "pods ended"
echo "sleeper was started: $(grep -c 'container started.*image=registry.example/sleeper' log/cri)"
