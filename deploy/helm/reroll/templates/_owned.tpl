{{/* Whether an object that the watchers fill in is this release's to make: nobody else has made it before. Takes
     `root`, `apiVersion`, `kind` and `name`. */}}
{{- define "reroll.isOurs" -}}
{{- $there := lookup .apiVersion .kind (include "reroll.namespace" .root) .name | default dict -}}
{{- $owner := dig "metadata" "annotations" "meta.helm.sh/release-name" "" $there -}}
{{- if or (empty $there) (eq $owner .root.Release.Name) -}}true{{- end -}}
{{- end -}}
