#!/bin/sh
# Makes ready in a cluster what watcher, worker and admin of docker-compose.yml need: their namespace, their
# ServiceAccounts and rights, and a kubeconfig for each, <folder>/<name>/kubeconfig.yaml, which its owner and its group can
# read. Safe to repeat.
#
# The token in a kubeconfig is good for a week; run again, this renews it, and a process that is refused reads it anew.
#
# Usage: KUBECONFIG=<administrator's> setup.sh <folder for the kubeconfigs> <URL of the API server for them>
set -eu
umask 077
folder=$1
server=$2

kubectl create namespace reroll --dry-run=client --output=yaml | kubectl apply --filename=-
kubectl apply --filename="$(dirname "$0")/rbac.yaml"

authority=$(kubectl config view --raw --output='jsonpath={.clusters[0].cluster.certificate-authority-data}')
for app in watcher worker admin; do
  mkdir -p "$folder/$app"
  file=$folder/$app/kubeconfig.yaml
  token=$(kubectl --namespace=reroll create token "reroll-$app" --duration=168h)
  rm -f "$file.new"
  to() { kubectl config --kubeconfig="$file.new" "$@" >/dev/null; }
  to set-cluster k3s --server="$server"
  to set clusters.k3s.certificate-authority-data "$authority"
  to set-credentials "$app" --token="$token"
  to set-context "$app" --cluster=k3s --user="$app" --namespace=reroll
  to use-context "$app"
  chmod 440 "$file.new"
  mv "$file.new" "$file"
done
