{{/* What short-lived pods have in common: that of the Job that makes Secrets, and those of `helm test`. */}}

{{- define "reroll.briefContainer" -}}
image: {{ include "reroll.image" (dict "root" .) }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
resources:
  requests: { cpu: 10m, memory: 64Mi }
  limits: { memory: 128Mi }
securityContext:
  {{- include "reroll.containerSecurityContext" (dict "added" .Values.reloader.deployment.containerSecurityContext) | nindent 2 }}
{{- end -}}

{{- define "reroll.briefPod" -}}
{{- $deployment := .Values.reloader.deployment -}}
{{- $openshift := include "reroll.isOpenshift" . | eq "true" -}}
{{- with include "reroll.imagePullSecrets" . }}
{{- . }}
{{ end -}}
enableServiceLinks: false
securityContext:
  {{- include "reroll.podSecurityContext" (dict "openshift" $openshift "id" 65532 "group" 65532 "added" $deployment.securityContext) | nindent 2 }}
{{- with $deployment.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $deployment.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
