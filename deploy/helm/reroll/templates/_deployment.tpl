{{/* The Deployment of a component, if the mode has it. Takes `root`, `component` and `replicas` (null: someone
     else scales it). */}}
{{- define "reroll.deployment" -}}
{{- $deployment := .root.Values.reloader.deployment -}}
{{- if include "reroll.isRun" . }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "reroll.componentName" . | quote }}
  namespace: {{ include "reroll.namespace" .root | quote }}
  labels:
    {{- include "reroll.workloadLabels" . | nindent 4 }}
  {{- with merge (include "reroll.releaseObjects" . | fromYaml) $deployment.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- if not (kindIs "invalid" .replicas) }}
  replicas: {{ .replicas }}
  {{- end }}
  revisionHistoryLimit: {{ $deployment.revisionHistoryLimit }}
  selector:
    matchLabels:
      {{- include "reroll.selectorLabels" . | nindent 6 }}
  strategy:
    type: RollingUpdate
    rollingUpdate: { maxUnavailable: 0, maxSurge: 1 }
  template:
    metadata:
      labels:
        {{- include "reroll.workloadLabels" . | nindent 8 }}
      {{- $annotations := merge (include "reroll.checksums" . | fromYaml) $deployment.pod.annotations }}
      {{- with $annotations }}
      annotations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      {{- include "reroll.pod" . | nindent 6 }}
{{- end }}
{{- end -}}

{{/* What is read once, at the start: when it changes in a Secret of ours, pods are replaced. Whoever may read Deployments sees the
     checksum. derivePassword is scrypt, so each guess at a value takes a tenth of a second, and is good for one release only. */}}
{{- define "reroll.checksums" -}}
{{- $root := .root -}}
{{- with include "reroll.secretEnv" $root }}
checksum/secret: {{ derivePassword 1 "maximum" . (include "reroll.fullname" $root) (include "reroll.namespace" $root) | sha256sum }}
{{- end }}
{{- end -}}

{{/* A bound of a budget as text; nothing if it is null or empty. 0 is a bound. */}}
{{- define "reroll.bound" -}}
{{- if not (kindIs "invalid" .) -}}{{- . -}}{{- end -}}
{{- end -}}

{{/* How many pods a component has at least. Takes `root` and `component`. */}}
{{- define "reroll.leastReplicas" -}}
{{- $own := index .root.Values .component -}}
{{- $shared := .root.Values.reloader.deployment.replicas -}}
{{- if ($own.keda | default dict).enabled -}}
{{- $own.keda.minReplicas -}}
{{- else if ($own.autoscaling | default dict).enabled -}}
{{- $own.autoscaling.minReplicas -}}
{{- else if and (has .component (list "watcher" "standalone")) (not (kindIs "invalid" $shared)) -}}
{{- $shared -}}
{{- else -}}
{{- $own.replicas -}}
{{- end -}}
{{- end -}}

{{/* The minAvailable of a component; nothing if it is that of all components and would forbid every eviction. Takes `root`,
     `component` and `budget`. */}}
{{- define "reroll.minAvailable" -}}
{{- $bound := include "reroll.bound" .budget.minAvailable -}}
{{- $replicas := include "reroll.leastReplicas" . | float64 -}}
{{- $pods := hasSuffix "%" $bound | ternary (divf (mulf $replicas (trimSuffix "%" $bound | float64)) 100) (float64 $bound) -}}
{{- if or (lt (ceil $pods) $replicas) (not .root.Values.reloader.podDisruptionBudget.enabled) -}}{{- $bound -}}{{- end -}}
{{- end -}}

{{- define "reroll.podDisruptionBudget" -}}
{{- $shared := .root.Values.reloader.podDisruptionBudget -}}
{{- $budget := $shared.enabled | empty | ternary (index .root.Values .component).podDisruptionBudget $shared -}}
{{- if and $budget.enabled (include "reroll.isRun" .) }}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "reroll.componentName" . | quote }}
  namespace: {{ include "reroll.namespace" .root | quote }}
  labels:
    {{- include "reroll.labels" . | nindent 4 }}
spec:
  {{- with include "reroll.minAvailable" (merge (dict "budget" $budget) .) }}
  minAvailable: {{ . }}
  {{- else }}
  maxUnavailable: {{ include "reroll.bound" $budget.maxUnavailable | default 1 }}
  {{- end }}
  # While Redis cannot be reached, no pod is ready, and nodes have to be drained all the same.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "reroll.selectorLabels" . | nindent 6 }}
{{- end }}
{{- end -}}
