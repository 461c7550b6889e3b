#!/bin/sh
# Makes ready in a cluster what the watcher and the worker of docker-compose.yml need: their namespace, their
# ServiceAccounts and rights, and a kubeconfig for each. Safe to repeat.
#
# Usage: KUBECONFIG=<administrator's> setup.sh <folder for the kubeconfigs> <URL of the API server for them>
set -eu
folder=$1
server=$2

kubectl create namespace reroll --dry-run=client --output=yaml | kubectl apply --filename=-
kubectl apply --filename="$(dirname "$0")/rbac.yaml"

authority=$(kubectl config view --raw --output='jsonpath={.clusters[0].cluster.certificate-authority-data}')
for app in watcher worker; do
  file=$folder/$app.yaml
  token=$(kubectl --namespace=reroll create token "reroll-$app" --duration=8760h)
  rm -f "$file.new"
  to() { kubectl config --kubeconfig="$file.new" "$@" >/dev/null; }
  to set-cluster k3s --server="$server"
  to set clusters.k3s.certificate-authority-data "$authority"
  to set-credentials "$app" --token="$token"
  to set-context "$app" --cluster=k3s --user="$app" --namespace=reroll
  to use-context "$app"
  chmod 444 "$file.new"
  mv "$file.new" "$file"
done
