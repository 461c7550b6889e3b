{{/* The objects that the watchers fill in. They are part of the release, so that they go with it, unless they were there before. */}}

{{- define "reroll.lease" -}}
{ apiVersion: coordination.k8s.io/v1, kind: Lease, name: {{ include "reroll.leaseName" . | quote }} }
{{- end -}}

{{- define "reroll.metaInfo" -}}
{ apiVersion: v1, kind: ConfigMap, name: reloader-meta-info }
{{- end -}}

{{/* Whether such an object is part of the release: there is none, or it has Helm's annotation, or none of Helm's while the release has
     made one. A watcher that makes it again does not annotate it, and Helm deletes what is no longer rendered. Takes `root` and `object`. */}}
{{- define "reroll.isOurs" -}}
{{- $root := .root -}}
{{- $namespace := include "reroll.namespace" $root -}}
{{- $there := lookup .object.apiVersion .object.kind $namespace .object.name | default dict -}}
{{- $owner := dig "metadata" "annotations" "meta.helm.sh/release-name" "" $there -}}
{{- $made := "" -}}
{{- range list "watcher" "standalone" -}}
{{- $deployment := lookup "apps/v1" "Deployment" $namespace (include "reroll.componentName" (dict "root" $root "component" .)) | default dict -}}
{{- $made = dig "metadata" "annotations" "reroll.dev/release-objects" $made $deployment -}}
{{- end -}}
{{- $isMade := splitList " " $made | has (include "reroll.ref" .object) -}}
{{- if or (empty $there) (eq $owner $root.Release.Name) (and (empty $owner) $isMade) -}}true{{- end -}}
{{- end -}}

{{- define "reroll.ref" -}}
{{- printf "%s/%s" .kind .name -}}
{{- end -}}

{{/* An annotation of the Deployment of the watchers that says which of these objects are part of the release. Takes `root` and
     `component`. */}}
{{- define "reroll.releaseObjects" -}}
{{- $root := .root -}}
{{- $refs := list -}}
{{- if eq .component (include "reroll.runsIn" (dict "root" $root "component" "watcher")) -}}
{{- range compact (list "reroll.lease" (and $root.Values.reloader.metaInfo.enabled "reroll.metaInfo")) -}}
{{- $object := include . $root | fromYaml -}}
{{- if include "reroll.isOurs" (dict "root" $root "object" $object) }}{{ $refs = append $refs (include "reroll.ref" $object) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- with $refs }}reroll.dev/release-objects: {{ join " " . }}{{ end -}}
{{- end -}}
