{{- define "reroll.verticalPodAutoscaler" -}}
{{- $scaler := .root.Values.reloader.verticalPodAutoscaler -}}
{{- if and $scaler.enabled (include "reroll.isRun" .) }}
apiVersion: autoscaling.k8s.io/v1
kind: VerticalPodAutoscaler
metadata:
  name: {{ include "reroll.componentName" . | quote }}
  namespace: {{ include "reroll.namespace" .root | quote }}
  labels:
    {{- include "reroll.labels" . | nindent 4 }}
spec:
  {{- with $scaler.recommenders }}
  recommenders:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  resourcePolicy:
    containerPolicies:
      - containerName: {{ .component | quote }}
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
    name: {{ include "reroll.componentName" . | quote }}
  {{- with $scaler.updatePolicy }}
  updatePolicy:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end -}}
