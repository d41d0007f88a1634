# boot.sh CLUSTER INFRA_ENV: plays three machines and the cluster that they become; pids lists the processes.
slipway infra-env ignition $2 > discovery.ign
{
  slipway-demo cluster --root lab/cluster --site lab/site --speed 0 --name wizard --domain example.com --control-plane 3 --version 4.20.5 > cluster.log 2>&1 &
  echo $!
  slipway-demo controller --root lab/controller --site lab/site --speed 0 --ignition discovery.ign --cluster-id $1 > controller.log 2>&1 &
  echo $!
  for n in 0 1 2; do
    slipway-demo machine --root lab/master-$n --site lab/site --speed 0 --ignition discovery.ign --name master-$n --shape master --address 192.168.117.2$n/24 > master-$n.log 2>&1 &
    echo $!
  done
} > pids
