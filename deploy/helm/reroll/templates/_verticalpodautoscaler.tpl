{{- define "reroll.verticalPodAutoscaler" -}}
{{- $scaler := .root.Values.reloader.verticalPodAutoscaler -}}
{{- if $scaler.enabled }}
apiVersion: autoscaling.k8s.io/v1
kind: VerticalPodAutoscaler
metadata:
  name: {{ include "reroll.componentName" . }}
  namespace: {{ include "reroll.namespace" .root }}
  labels:
    {{- include "reroll.labels" . | nindent 4 }}
spec:
  {{- with $scaler.recommenders }}
  recommenders:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  resourcePolicy:
    containerPolicies:
      - containerName: {{ .component }}
        {{- with $scaler.controlledResources }}
        controlledResources:
          {{- toYaml . | nindent 10 }}
        {{- end }}
        {{- with $scaler.controlledValues }}
        controlledValues: {{ . }}
        {{- end }}
        {{- with $scaler.maxAllowed }}
        maxAllowed:
          {{- toYaml . | nindent 10 }}
        {{- end }}
        {{- with $scaler.minAllowed }}
        minAllowed:
          {{- toYaml . | nindent 10 }}
        {{- end }}
  targetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: {{ include "reroll.componentName" . }}
  {{- with $scaler.updatePolicy }}
  updatePolicy:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end -}}
