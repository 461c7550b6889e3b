{{/* Names, labels and images. Those of one component take a dict of `root` and `component`. */}}

{{- define "reroll.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* Short enough for a StatefulSet, whose pods carry its name and a hash in a label. */}}
{{- define "reroll.fullname" -}}
{{- $name := include "reroll.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "reroll.namespace" -}}
{{- default .Release.Namespace .Values.namespace -}}
{{- end -}}

{{/* Whether watcher, worker, admin and Redis are one pod. */}}
{{- define "reroll.isStandalone" -}}
{{- if eq (toString .Values.mode) "standalone" -}}true{{- end -}}
{{- end -}}

{{/* Whether Redis has a pod of its own. */}}
{{- define "reroll.hasRedis" -}}
{{- if and .Values.redis.enabled (not (include "reroll.isStandalone" .)) -}}true{{- end -}}
{{- end -}}

{{/* Whether the mode has pods of this component. Takes `root` and `component`. */}}
{{- define "reroll.isRun" -}}
{{- $isStandalone := include "reroll.isStandalone" .root | eq "true" -}}
{{- if eq $isStandalone (eq .component "standalone") -}}true{{- end -}}
{{- end -}}

{{/* The component whose pods are watcher, worker or admin. Takes `root` and `component`. */}}
{{- define "reroll.runsIn" -}}
{{- include "reroll.isStandalone" .root | empty | ternary .component "standalone" -}}
{{- end -}}

{{- define "reroll.componentName" -}}
{{- printf "%s-%s" (include "reroll.fullname" .root) .component -}}
{{- end -}}

{{/* Never changed on an upgrade. The values add only keys that no label of ours has. */}}
{{- define "reroll.selectorLabels" -}}
app.kubernetes.io/name: {{ include "reroll.name" .root | quote }}
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
app.kubernetes.io/component: {{ .component }}
{{- $added := .root.Values.reloader.matchLabels }}
{{- range list "name" "instance" "component" "version" "part-of" "managed-by" }}{{ $added = omit $added (printf "app.kubernetes.io/%s" .) }}{{ end }}
{{- with omit $added "helm.sh/chart" }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "reroll.labels" -}}
{{ include "reroll.selectorLabels" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: reroll
app.kubernetes.io/managed-by: {{ .root.Release.Service | quote }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* The same, and those of the values beside them. Takes `labels`, too. A key that both have keeps the chart's value. */}}
{{- define "reroll.labelsWith" -}}
{{- toYaml (merge (include "reroll.labels" . | fromYaml) (.labels | default dict)) -}}
{{- end -}}

{{/* Labels of Deployments and pods of our processes: with those that the values add. */}}
{{- define "reroll.workloadLabels" -}}
{{- $added := .root.Values.reloader.deployment.labels | default dict -}}
{{- $own := include "reroll.labels" . | fromYaml -}}
{{- toYaml (merge $own $added) -}}
{{- end -}}

{{/* Admin never shares that of the others, which has rights to Secrets. The one process of `mode: standalone` has that of the
     watcher, so that whoever leads when the mode changes can still release the Lease. */}}
{{- define "reroll.serviceAccountName" -}}
{{- $shared := .root.Values.reloader.serviceAccount.name -}}
{{- if include "reroll.isStandalone" .root -}}
{{- $shared | default (include "reroll.componentName" (dict "root" .root "component" "watcher")) -}}
{{- else -}}
{{- eq .component "admin" | ternary .root.Values.admin.serviceAccount.name $shared | default (include "reroll.componentName" .) -}}
{{- end -}}
{{- end -}}

{{- define "reroll.imageRepository" -}}
{{- $image := .Values.image -}}
{{- with .Values.global.imageRegistry -}}
{{- printf "%s/%s" (trimSuffix "/" .) $image.name -}}
{{- else -}}
{{- $image.repository -}}
{{- end -}}
{{- end -}}

{{/* The same for every component. */}}
{{- define "reroll.image" -}}
{{- $image := .root.Values.image -}}
{{- $repository := include "reroll.imageRepository" .root -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $repository $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository (toString ($image.tag | default .root.Chart.AppVersion)) -}}
{{- end -}}
{{- end -}}

{{- define "reroll.redisImage" -}}
{{- $image := .Values.redis.image -}}
{{- $registry := .Values.global.imageRegistry | default $image.registry | trimSuffix "/" -}}
{{- $repository := $image.repository -}}
{{- if $registry -}}{{- $repository = printf "%s/%s" $registry $repository -}}{{- end -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $repository $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository (toString $image.tag) -}}
{{- end -}}
{{- end -}}

{{- define "reroll.imagePullSecrets" -}}
{{- with concat (.Values.global.imagePullSecrets | default list) (.Values.reloader.deployment.imagePullSecrets | default list) -}}
imagePullSecrets:
{{- range . }}
  - name: {{ kindIs "map" . | ternary (get (kindIs "map" . | ternary . dict) "name") . | quote }}
{{- end }}
{{- end }}
{{- end -}}
