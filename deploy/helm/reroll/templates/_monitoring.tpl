{{/* Labels and annotations of an alert; takes root, severity, name and what it says. */}}
{{- define "reroll.alert" -}}
{{- $root := index . 0 -}}
labels:
  {{- toYaml (merge (dict) $root.Values.prometheusRule.alertLabels (dict "severity" (index . 1))) | nindent 2 }}
annotations:
  summary: {{ index . 3 | quote }}
  runbook_url: {{ printf "%s#%s" $root.Values.prometheusRule.runbookUrl (index . 2 | lower) | quote }}
{{- end -}}

{{/* Selects the series of this release's processes, in PromQL: another release in the namespace has other pods. */}}
{{- define "reroll.series" -}}
namespace={{ include "reroll.namespace" . | quote }},pod=~{{ printf "%s-(watcher|worker|admin|standalone)-.+" (include "reroll.fullname" . | regexQuoteMeta) | quote }}
{{- end -}}

{{/* What ServiceMonitor and PodMonitor say of an endpoint; takes the values of one. */}}
{{- define "reroll.endpoint" -}}
path: /metrics
honorLabels: {{ .honorLabels }}
{{- with .interval }}
interval: {{ . }}
{{- end }}
{{- with .timeout }}
scrapeTimeout: {{ . }}
{{- end }}
{{- with .scheme }}
scheme: {{ . }}
{{- end }}
{{- with .tlsConfig }}
tlsConfig:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .bearerTokenSecret }}
bearerTokenSecret:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .bearerTokenFile }}
bearerTokenFile: {{ . | quote }}
{{- end }}
{{- with .metricRelabelings }}
metricRelabelings:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .relabelings }}
relabelings:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Selects our processes, pods and Services alike, and not Redis. */}}
{{- define "reroll.monitored" -}}
matchLabels:
  app.kubernetes.io/name: {{ include "reroll.name" . | quote }}
  app.kubernetes.io/instance: {{ .Release.Name | quote }}
matchExpressions:
  - { key: app.kubernetes.io/component, operator: In, values: [watcher, worker, admin, admin-metrics, standalone] }
{{- end -}}

{{/* Name of an object that the values may put into another namespace, where releases of several namespaces meet. Takes `root` and
     `namespace`. */}}
{{- define "reroll.monitoringName" -}}
{{- $own := include "reroll.namespace" .root -}}
{{- $prefix := without (list $own) (.namespace | default $own) -}}
{{- append $prefix (include "reroll.fullname" .root) | join "-" -}}
{{- end -}}
