{{/* What watcher, worker and admin may reach, and who may reach them. */}}

{{- define "reroll.isNetworkPolicyEnabled" -}}
{{- if or .Values.networkPolicy.enabled .Values.reloader.netpol.enabled -}}true{{- end -}}
{{- end -}}

{{- define "reroll.networkPolicy" -}}
{{- $root := .root -}}
{{- $policy := $root.Values.networkPolicy -}}
{{- if and (include "reroll.isNetworkPolicyEnabled" $root) (include "reroll.isRun" .) }}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ include "reroll.componentName" . | quote }}
  namespace: {{ include "reroll.namespace" $root | quote }}
  labels:
    {{- include "reroll.labels" . | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- include "reroll.selectorLabels" . | nindent 6 }}
  policyTypes: [Ingress, Egress]
  ingress:
    # Metrics, and probes where the CNI does not let them through anyway.
    - ports:
        - { protocol: TCP, port: {{ $root.Values.reloader.metricsPort }} }
      {{- with concat ($root.Values.reloader.netpol.from | default list) ($policy.metrics.from | default list) }}
      from:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    {{- if include "reroll.servesApi" . }}
    # The API and the dashboard.
    - ports:
        - { protocol: TCP, port: {{ $root.Values.admin.port }} }
      {{- with ($policy.admin | default dict).from }}
      from:
        {{- toYaml . | nindent 8 }}
        {{- if include "reroll.relaysToLeader" $ }}
        - podSelector:
            matchLabels:
              {{- include "reroll.selectorLabels" $ | nindent 14 }}
        {{- end }}
      {{- end }}
    {{- end }}
  egress:
    {{- include "reroll.apiServerEgress" $root | nindent 4 }}
    {{- with include "reroll.redisEgress" $root }}
    # Redis
    {{- . | nindent 4 }}
    {{- end }}
    {{- if include "reroll.relaysToLeader" . }}
    # The API of the leader
    - ports:
        - { protocol: TCP, port: {{ $root.Values.admin.port }} }
      to:
        - podSelector:
            matchLabels:
              {{- include "reroll.selectorLabels" . | nindent 14 }}
    {{- end }}
    {{- if has .component (list "worker" "standalone") }}
    {{- with $policy.extraEgress }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
    {{- end }}
{{- end }}
{{- end -}}

{{/* What every pod needs that calls the API server. */}}
{{- define "reroll.apiServerEgress" -}}
{{- $policy := .Values.networkPolicy -}}
# DNS
- ports:
    {{- range include "reroll.dnsPorts" . | fromYamlArray }}
    - { protocol: UDP, port: {{ . }} }
    - { protocol: TCP, port: {{ . }} }
    {{- end }}
  {{- with ($policy.dns | default dict).to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
# The API server
- ports:
    {{- range $policy.apiServer.ports }}
    - { protocol: TCP, port: {{ . }} }
    {{- end }}
  {{- with include "reroll.apiServerPeers" . | fromYamlArray }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* The DNS of OpenShift listens on 5353 behind its Service. */}}
{{- define "reroll.dnsPorts" -}}
{{- toYaml (or (include "reroll.isOpenshift" .) (include "reroll.runsOnOpenshift" .) | empty | ternary (list 53) (list 53 5353)) -}}
{{- end -}}

{{- define "reroll.apiServerPeers" -}}
{{- range .Values.networkPolicy.apiServer.cidrs }}
- ipBlock: { cidr: {{ . | quote }} }
{{- end }}
{{- with .Values.reloader.netpol.to }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "reroll.redisEgress" -}}
{{- if include "reroll.hasRedis" . -}}
- ports:
    - { protocol: TCP, port: 6379 }
  to:
    - podSelector:
        matchLabels:
          {{- include "reroll.selectorLabels" (dict "root" . "component" "redis") | nindent 10 }}
{{- else if not .Values.redis.enabled -}}
- ports:
    {{- range include "reroll.externalRedisPorts" . | fromYamlArray }}
    - { protocol: TCP, port: {{ . }} }
    {{- end }}
  {{- with .Values.networkPolicy.redis.to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}
{{- end -}}

{{/* Of the addresses that the values name, and those that they add; a Sentinel's master and what is in a Secret are taken for 6379. */}}
{{- define "reroll.externalRedisPorts" -}}
{{- $external := .Values.redis.external -}}
{{- $ports := list -}}
{{- if $external.cluster -}}
{{- range include "reroll.items" $external.cluster | fromYamlArray -}}{{- $ports = append $ports (regexFind ":[0-9]+$" . | trimPrefix ":" | default "6379" | int) -}}{{- end -}}
{{- else if $external.sentinel.hosts -}}
{{- range include "reroll.items" $external.sentinel.hosts | fromYamlArray -}}{{- $ports = append $ports (regexFind ":[0-9]+$" . | trimPrefix ":" | default "26379" | int) -}}{{- end -}}
{{- $ports = append $ports ($external.port | default 6379 | int) -}}
{{- else if $external.url -}}
{{- $ports = append $ports (regexReplaceAll "^[a-z]+://|[/?#].*$" $external.url "" | regexFind ":[0-9]+$" | trimPrefix ":" | default "6379" | int) -}}
{{- else -}}
{{- $ports = append $ports ($external.port | default 6379 | int) -}}
{{- end -}}
{{- range .Values.networkPolicy.redis.ports -}}{{- $ports = append $ports (int .) -}}{{- end -}}
{{- toYaml (uniq $ports) -}}
{{- end -}}
