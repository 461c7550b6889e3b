#!/bin/sh
# Packages the chart for both ways to get it: an archive for an OCI registry (`helm push`), and beside it the index.yaml
# of a repository for `helm repo add`. An index.yaml that is there is continued.
#
# Usage: chart.sh <folder> <URL that the archive will have, without its name>     HELM: the program, default helm
set -eu
folder=$1
url=$2
helm=${HELM:-helm}
root=$(dirname "$0")/../..

new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
chart=$new/chart/reroll
mkdir "$new/chart"
cp -R "$root/deploy/helm/reroll" "$chart"
# Of a release there is an image to pull.
sed -i '/^  # A release takes this out/d; /^  reroll\.dev\/image: unpublished$/d' "$chart/Chart.yaml"
"$helm" lint --strict "$chart"
"$helm" package --destination "$new" "$chart"
rm -r "$new/chart"
if [ -e "$folder/index.yaml" ]; then
  "$helm" repo index --url "$url" --merge "$folder/index.yaml" "$new"
else
  "$helm" repo index --url "$url" "$new"
fi
mkdir -p "$folder"
mv "$new"/* "$folder"
