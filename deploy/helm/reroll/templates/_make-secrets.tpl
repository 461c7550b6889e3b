{{/* The Secrets of the release are made in the cluster, once, by a Job. So the chart has no random values: helm template, Argo CD
     and Flux render the same each time. */}}

{{/* What the Job is to make, as arguments in a YAML list; nothing if every Secret is somebody else's. */}}
{{- define "reroll.madeSecrets" -}}
{{- if and (include "reroll.hasRedis" .) (not .Values.redis.auth.existingSecret) }}
{{- $keys := list -}}
{{- range include "reroll.redisUsers" . | fromYamlArray -}}{{- $keys = append $keys (printf "%s-password" .) -}}{{- end }}
- {{ printf "--random=%s:%s" (include "reroll.redisName" .) (join "," $keys) }}
{{- end }}
{{- with .Values.reloader.hashKey }}
{{- if and .enabled (not .existingSecret) }}
- {{ printf "--random=%s:keys" (include "reroll.hashKeySecret" $) }}
{{- end }}
{{- end }}
{{- if and (include "reroll.redisTlsSecret" .) (not .Values.redis.tls.existingSecret) }}
{{- $host := include "reroll.redisName" . -}}
{{- $service := printf "%s.%s" $host (include "reroll.namespace" .) }}
- {{ list $host $service (printf "%s.svc" $service) (printf "%s.svc.cluster.local" $service) "localhost" "127.0.0.1" | join "," | printf "--certificate=%s:%s" (include "reroll.redisTlsSecret" .) }}
{{- end }}
{{- end -}}

{{/* Their names, as a YAML list. */}}
{{- define "reroll.madeSecretNames" -}}
{{- range include "reroll.madeSecrets" . | fromYamlArray }}
- {{ regexFind "=[^:]+" . | trimPrefix "=" | quote }}
{{- end }}
{{- end -}}

{{- define "reroll.hashKeySecret" -}}
{{- .Values.reloader.hashKey.existingSecret | default (printf "%s-hash-keys" (include "reroll.fullname" .)) -}}
{{- end -}}

{{- define "reroll.makeSecretsName" -}}
{{- include "reroll.componentName" (dict "root" . "component" "make-secrets") -}}
{{- end -}}

{{- define "reroll.makeSecretsAccountName" -}}
{{- .Values.makeSecrets.serviceAccount.name | default (include "reroll.makeSecretsName" .) -}}
{{- end -}}

{{/* Kept out of service meshes: with a sidecar, the Job may never end, and it calls only the API server. */}}
{{- define "reroll.makeSecretsTemplate" -}}
metadata:
  labels:
    {{- include "reroll.briefPodLabels" (dict "root" . "component" "make-secrets" "labels" (merge (dict) .Values.makeSecrets.podLabels (dict "sidecar.istio.io/inject" "false"))) | nindent 4 }}
  annotations:
    {{- toYaml (merge (dict) .Values.makeSecrets.podAnnotations (dict "linkerd.io/inject" "disabled")) | nindent 4 }}
spec:
  restartPolicy: OnFailure
  serviceAccountName: {{ include "reroll.makeSecretsAccountName" . | quote }}
  automountServiceAccountToken: true
  {{- include "reroll.briefPod" . | nindent 2 }}
  containers:
    - name: make-secrets
      args:
        - make-secrets
        {{- include "reroll.madeSecrets" . | nindent 8 }}
      {{- include "reroll.briefContainer" . | nindent 6 }}
{{- end -}}
