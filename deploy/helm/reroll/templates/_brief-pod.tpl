{{/* What short-lived pods have in common: that of the Job that makes Secrets, and those of `helm test`. Annotations for all pods
     stay away: they may ask for a sidecar, with which a Job may never end. */}}

{{- define "reroll.briefContainer" -}}
image: {{ include "reroll.image" (dict "root" .) }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
resources:
  requests: { cpu: 10m, memory: 64Mi }
  limits: { memory: 128Mi{{ with include "reroll.briefCpuLimit" . }}, cpu: {{ . }}{{ end }} }
securityContext:
  {{- include "reroll.containerSecurityContext" (dict "added" .Values.reloader.deployment.containerSecurityContext) | nindent 2 }}
{{- end -}}

{{/* Where workers have one, a quota may ask it of every pod. */}}
{{- define "reroll.briefCpuLimit" -}}
{{- $worker := dict "root" . "component" (include "reroll.runsIn" (dict "root" . "component" "worker")) -}}
{{- with ((include "reroll.resources" $worker | fromYaml).limits | default dict).cpu -}}{{- . | quote -}}{{- end -}}
{{- end -}}

{{/* Of affinities only those to nodes: others spread what runs for long, and could keep these Pending. */}}
{{- define "reroll.briefPod" -}}
{{- $deployment := .Values.reloader.deployment -}}
{{- with include "reroll.imagePullSecrets" . }}
{{- . }}
{{ end -}}
enableServiceLinks: false
securityContext:
  {{- include "reroll.podSecurityContext" (dict "root" . "id" 65532 "group" 65532 "added" $deployment.securityContext) | nindent 2 }}
{{- include "reroll.podClasses" . }}
{{- with ($deployment.affinity | default dict).nodeAffinity }}
affinity:
  nodeAffinity:
    {{- toYaml . | nindent 4 }}
{{- end }}
{{- end -}}

{{/* Their labels: those that select them, `labels`, and those that the values add to pods. Takes `root` and `component` too. */}}
{{- define "reroll.briefPodLabels" -}}
{{- $added := .root.Values.reloader.deployment.labels | default dict -}}
{{- toYaml (merge (include "reroll.selectorLabels" . | fromYaml) (.labels | default dict) $added) -}}
{{- end -}}
