{{/* What only admin has. All take the root. */}}

{{/* Whether there is one: a scoped install has no right to ask whose a token is, unless it is given. */}}
{{- define "reroll.isAdminEnabled" -}}
{{- $admin := .Values.admin -}}
{{- $knows := or .Values.reloader.watchGlobally $admin.rbac.clusterWide (eq $admin.auth "static") -}}
{{- if and $admin.enabled $knows -}}true{{- end -}}
{{- end -}}

{{/* Whether the pods of a component serve the API to others. Takes `root` and `component`. */}}
{{- define "reroll.servesApi" -}}
{{- if and (has .component (list "admin" "standalone")) (include "reroll.isAdminEnabled" .root) -}}true{{- end -}}
{{- end -}}

{{/* Whether those that do not lead hand callers of the API on to the leader: each has a Redis of its own. Takes the same. */}}
{{- define "reroll.relaysToLeader" -}}
{{- if and (eq .component "standalone") .root.Values.redis.enabled (include "reroll.servesApi" .) -}}true{{- end -}}
{{- end -}}

{{- define "reroll.adminArgs" -}}
{{- $admin := .Values.admin -}}
{{- if ne (int $admin.port) 8080 }}
- --api-addr=:{{ $admin.port }}
{{- end }}
{{- if eq $admin.auth "static" }}
- --static-tokens-file=/etc/reroll/static-tokens/tokens.yaml
{{- end }}
{{- if $admin.tls.existingSecret }}
- --api-tls-cert-file=/etc/reroll/api-tls/tls.crt
- --api-tls-key-file=/etc/reroll/api-tls/tls.key
{{- end }}
{{- end -}}

{{- define "reroll.adminVolumes" -}}
{{- $admin := .Values.admin -}}
{{- $tokens := $admin.staticTokens -}}
{{- if eq $admin.auth "static" }}
- name: static-tokens
  secret:
    secretName: {{ $tokens.existingSecret | default (include "reroll.staticTokensName" .) | quote }}
    defaultMode: 0440
    items:
      - { key: {{ $tokens.existingSecret | empty | ternary "tokens.yaml" $tokens.existingSecretKey | quote }}, path: tokens.yaml }
{{- end }}
{{- with $admin.tls.existingSecret }}
- name: api-tls
  secret:
    secretName: {{ . | quote }}
    defaultMode: 0440
    items:
      - { key: {{ $admin.tls.certKey | quote }}, path: tls.crt }
      - { key: {{ $admin.tls.keyKey | quote }}, path: tls.key }
{{- end }}
{{- end -}}

{{- define "reroll.staticTokensName" -}}
{{- printf "%s-static-tokens" (include "reroll.componentName" (dict "root" . "component" "admin")) -}}
{{- end -}}

{{/* The name of a ClusterRole for people: the namespace tells releases of one name apart, and is left out where it is that name.
     Takes `root` and `name`. */}}
{{- define "reroll.userRoleName" -}}
{{- $prefix := list (include "reroll.namespace" .root) (include "reroll.fullname" .root) | uniq | join "-" -}}
{{- printf "%s-%s" $prefix .name -}}
{{- end -}}

{{/* A ClusterRole for people. Takes `root`, `name`, `aggregateTo` and `rules`. */}}
{{- define "reroll.userRole" -}}
{{- $of := dict "root" .root "component" "admin" -}}
{{- if and .root.Values.admin.rbac.userRoles (include "reroll.isClusterWide" $of) }}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ include "reroll.userRoleName" . | quote }}
  labels:
    {{- include "reroll.rbacLabels" $of | nindent 4 }}
    {{- if .root.Values.admin.rbac.aggregate }}
    {{- range .aggregateTo }}
    rbac.authorization.k8s.io/aggregate-to-{{ . }}: 'true'
    {{- end }}
    {{- end }}
rules:
  {{- .rules | nindent 2 }}
{{- end }}
{{- end -}}
