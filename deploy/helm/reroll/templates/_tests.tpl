{{/* Whether a rollout can be seen in the namespace of the release. Its labels, which a namespaceSelector asks for, and the
     labels of a source are not known here. */}}
{{- define "reroll.isTested" -}}
{{- $reloader := .Values.reloader -}}
{{- $ignored := include "reroll.ignoredNamespaces" . | fromYamlArray -}}
{{- $unseen := has (include "reroll.namespace" .) $ignored -}}
{{- $unlabelled := and $reloader.resourceLabelSelector (not .Values.tests.sourceLabels) -}}
{{- $unknown := and $reloader.watchGlobally $reloader.namespaceSelector -}}
{{- if and .Values.tests.enabled (not (or $unlabelled $unknown)) (not $reloader.dryRun) (not $reloader.webhookUrl) (not $unseen) -}}true{{- end -}}
{{- end -}}

{{/* Whether the test can reach admin, and knows its certificate if it has one: then it asks it. */}}
{{- define "reroll.isAdminTested" -}}
{{- $admin := .Values.admin -}}
{{- $isOpen := and (not (.Values.networkPolicy.admin | default dict).from) (not $admin.tls.existingSecret) -}}
{{- $replicas := (index .Values (include "reroll.runsIn" (dict "root" . "component" "admin"))).replicas -}}
{{- if and (include "reroll.isAdminEnabled" .) $isOpen (gt (int $replicas) 0) -}}true{{- end -}}
{{- end -}}

{{- define "reroll.testName" -}}
{{- include "reroll.componentName" (dict "root" . "component" "test") -}}
{{- end -}}

{{- define "reroll.testMetadata" -}}
name: {{ include "reroll.testName" .root }}{{ .suffix }}
namespace: {{ include "reroll.namespace" .root | quote }}
labels:
  {{- $own := include "reroll.labels" (dict "root" .root "component" "test") | fromYaml }}
  {{- toYaml (merge $own (.labels | default dict)) | nindent 2 }}
annotations:
  helm.sh/hook: test
  helm.sh/hook-weight: {{ .weight | quote }}
  helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
  {{- with .annotations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}
