#!/bin/sh
# Adds a digest to the tag of Redis wherever the chart and the plain manifest name it: the digest decides what is pulled, and
# another `redis.image.tag` replaces both.
#
# Usage: pin-redis.sh <deploy folder> <sha256:...>
set -eu
folder=$1
digest=$2
image=$(grep /redis: "$folder/helm/reroll/images.txt")
tag=${image##*:}
echo "$digest" | grep -Eqx 'sha256:[0-9a-f]{64}' || { echo "expected a digest, given $digest" >&2; exit 1; }
case $image in *@*) echo "expected an image without a digest, found $image" >&2; exit 1 ;; esac

# Whole: no longer tag that ends so.
pattern='\([^0-9A-Za-z._-]\)'$(echo "$tag" | sed 's/[.]/[.]/g')
for file in helm/reroll/values.yaml helm/reroll/maps.json helm/reroll/README.md helm/reroll/images.txt manifests/reroll.yaml; do
  grep -q "$pattern" "$folder/$file" || { echo "expected $file to have the tag $tag" >&2; exit 1; }
  sed "s/$pattern/\\1$tag@$digest/g" "$folder/$file" >"$folder/$file.new"
  mv "$folder/$file.new" "$folder/$file"
done
