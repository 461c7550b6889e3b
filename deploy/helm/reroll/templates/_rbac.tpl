{{/* The least that each component needs; a flag widens only what it needs itself. */}}

{{- define "reroll.sourceResources" -}}
{{- $resources := list -}}
{{- if not .Values.reloader.ignoreConfigMaps -}}{{- $resources = append $resources "configmaps" -}}{{- end -}}
{{- if not .Values.reloader.ignoreSecrets -}}{{- $resources = append $resources "secrets" -}}{{- end -}}
{{- printf "[%s]" (join ", " $resources) -}}
{{- end -}}

{{/* Whether DeploymentConfigs are reloaded. */}}
{{- define "reroll.isOpenshift" -}}
{{- if ne (toString .Values.reloader.isOpenshift) "false" -}}true{{- end -}}
{{- end -}}

{{/* Whether the cluster is OpenShift, by what the API server serves or by the value. */}}
{{- define "reroll.runsOnOpenshift" -}}
{{- $isServed := .Capabilities.APIVersions.Has "security.openshift.io/v1" -}}
{{- if or $isServed (eq (toString .Values.reloader.isOpenshift) "true") -}}true{{- end -}}
{{- end -}}

{{- define "reroll.watcherRules" -}}
{{- $reloader := .Values.reloader -}}
- apiGroups: [""]
  resources: {{ include "reroll.sourceResources" . }}
  {{- if $reloader.resourceLabelSelector }}
  # get: to tell one that was deleted from one that only lost its labels.
  verbs: [get, list, watch]
  {{- else }}
  verbs: [list, watch]
  {{- end }}
{{- if and $reloader.watchGlobally $reloader.namespaceSelector }}
- apiGroups: [""]
  resources: [namespaces]
  verbs: [list, watch]
{{- end }}
- apiGroups: [apps]
  resources: [deployments, statefulsets, daemonsets]
  verbs: [list, watch]
{{- if not (and $reloader.ignoreJobs $reloader.ignoreCronJobs) }}
- apiGroups: [batch]
  resources:
    {{- if not $reloader.ignoreCronJobs }}
    - cronjobs
    {{- end }}
    {{- if not $reloader.ignoreJobs }}
    - jobs
    {{- end }}
  verbs: [list, watch]
{{- end }}
{{- if $reloader.isArgoRollouts }}
- apiGroups: [argoproj.io]
  resources: [rollouts]
  verbs: [list, watch]
{{- end }}
{{- if include "reroll.isOpenshift" . }}
- apiGroups: [apps.openshift.io]
  resources: [deploymentconfigs]
  verbs: [list, watch]
{{- end }}
{{- if $reloader.enableCSIIntegration }}
- apiGroups: [secrets-store.csi.x-k8s.io]
  resources: [secretproviderclasses, secretproviderclasspodstatuses]
  verbs: [list, watch]
{{- end }}
{{- if $reloader.rolloutDetails }}
# What the pods of a rollout that is stuck have to say.
- apiGroups: [""]
  resources: [pods]
  verbs: [list]
{{- end }}
{{- end -}}

{{/* To ask whose a token is, and what they may. */}}
{{- define "reroll.adminRules" -}}
{{- if ne .Values.admin.auth "static" }}
- apiGroups: [authentication.k8s.io]
  resources: [tokenreviews]
  verbs: [create]
- apiGroups: [authorization.k8s.io]
  resources: [subjectaccessreviews]
  verbs: [create]
{{- end }}
{{- if .Values.reloader.watchGlobally }}
# To tell what annotations of a Namespace hold.
- apiGroups: [""]
  resources: [namespaces]
  verbs: [get]
{{- end }}
{{- end -}}

{{- define "reroll.workerRules" -}}
{{- $reloader := .Values.reloader -}}
- apiGroups: [""]
  resources: {{ include "reroll.sourceResources" . }}
  verbs: [get]
- apiGroups: [apps]
  resources: [deployments, statefulsets, daemonsets]
  verbs: [get, patch]
{{- if not $reloader.ignoreCronJobs }}
- apiGroups: [batch]
  resources: [cronjobs]
  verbs: [get, patch]
{{- end }}
{{- if not $reloader.ignoreJobs }}
# A Job's template cannot be changed: it is deleted and created again.
- apiGroups: [batch]
  resources: [jobs]
  verbs: [get, patch, create, delete]
{{- else if and (not $reloader.ignoreCronJobs) (ne $reloader.cronJobStrategy "patch") }}
# A change creates a Job of the CronJob; get: to know it again.
- apiGroups: [batch]
  resources: [jobs]
  verbs: [get, create]
{{- end }}
{{- if $reloader.isArgoRollouts }}
- apiGroups: [argoproj.io]
  resources: [rollouts]
  verbs: [get, patch]
{{- end }}
{{- if include "reroll.isOpenshift" . }}
- apiGroups: [apps.openshift.io]
  resources: [deploymentconfigs]
  verbs: [get, patch]
{{- end }}
# Annotations of a Namespace may hold reloads. They can only be watched in all namespaces.
- apiGroups: [""]
  resources: [namespaces]
  {{- if $reloader.watchGlobally }}
  verbs: [get, list, watch]
  {{- else }}
  verbs: [get]
  {{- end }}
- apiGroups: [""]
  resources: [events]
  verbs: [create]
{{- end -}}

{{- define "reroll.rbacLabels" -}}
{{- toYaml (merge (include "reroll.labels" . | fromYaml) .root.Values.reloader.rbac.labels) -}}
{{- end -}}

{{/* In a namespace of others, releases of one name are told apart by their own namespace. Takes `namespace` too. */}}
{{- define "reroll.roleName" -}}
{{- eq .namespace (include "reroll.namespace" .root) | ternary (include "reroll.componentName" .) (include "reroll.clusterRoleName" .) -}}
{{- end -}}

{{/* Namespaces that get a Role: those of a scoped install. */}}
{{- define "reroll.roles" -}}
{{- $root := .root -}}
{{- if and $root.Values.reloader.rbac.enabled (not $root.Values.reloader.watchGlobally) }}
{{- range include "reroll.namespaces" $root | fromYamlArray }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ include "reroll.roleName" (merge (dict "namespace" .) $) | quote }}
  namespace: {{ . | quote }}
  labels:
    {{- include "reroll.rbacLabels" $ | nindent 4 }}
rules:
  {{- include (printf "reroll.%sRules" $.component) $root | nindent 2 }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "reroll.roleBindings" -}}
{{- $root := .root -}}
{{- if and $root.Values.reloader.rbac.enabled (not $root.Values.reloader.watchGlobally) }}
{{- range include "reroll.namespaces" $root | fromYamlArray }}
{{- $in := merge (dict "namespace" .) $ }}
{{ include "reroll.roleBinding" (merge (dict "role" (include "reroll.roleName" $in)) $in) }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "reroll.roleBinding" }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ .role | quote }}
  namespace: {{ .namespace | quote }}
  labels:
    {{- include "reroll.rbacLabels" . | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ .role | quote }}
subjects:
  - kind: ServiceAccount
    name: {{ include "reroll.serviceAccountName" . | quote }}
    namespace: {{ include "reroll.namespace" .root | quote }}
{{- end -}}

{{/* Whether a component has rights in the whole cluster. */}}
{{- define "reroll.isClusterWide" -}}
{{- $values := .root.Values -}}
{{- $asks := and (eq .component "admin") $values.admin.rbac.clusterWide (ne $values.admin.auth "static") -}}
{{- if and $values.reloader.rbac.enabled (or $values.reloader.watchGlobally $asks) -}}true{{- end -}}
{{- end -}}

{{- define "reroll.clusterRole" -}}
{{- if include "reroll.isClusterWide" . }}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ include "reroll.clusterRoleName" . | quote }}
  labels:
    {{- include "reroll.rbacLabels" . | nindent 4 }}
rules:
  {{- include (printf "reroll.%sRules" .component) .root | nindent 2 }}
  {{- if .root.Values.reloader.watchGlobally }}
  # Its uid tells one cluster from another.
  - apiGroups: [""]
    resources: [namespaces]
    resourceNames: [kube-system]
    verbs: [get]
  {{- end }}
{{- end }}
{{- end -}}

{{/* Objects of the cluster are told apart by the namespace too: releases may have one name. */}}
{{- define "reroll.clusterRoleName" -}}
{{- printf "%s-%s" (include "reroll.namespace" .root) (include "reroll.componentName" .) -}}
{{- end -}}

{{- define "reroll.clusterRoleBinding" -}}
{{- if include "reroll.isClusterWide" . }}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ include "reroll.clusterRoleName" . | quote }}
  labels:
    {{- include "reroll.rbacLabels" . | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ include "reroll.clusterRoleName" . | quote }}
subjects:
  - kind: ServiceAccount
    name: {{ include "reroll.serviceAccountName" . | quote }}
    namespace: {{ include "reroll.namespace" .root | quote }}
{{- end }}
{{- end -}}

{{- define "reroll.serviceAccount" -}}
{{- $account := .root.Values.reloader.serviceAccount -}}
{{- $isAdmin := eq .component "admin" -}}
{{- /* Without a name of its own, admin's is made in any case: that of the others has rights that it must not have. */ -}}
{{- $isMade := or $account.create (and $isAdmin (not .root.Values.admin.serviceAccount.name)) -}}
{{- if include "reroll.isStandalone" .root }}{{ $isMade = and $account.create (eq .component "watcher") }}{{ end -}}
{{- if and $isMade (or (not $account.name) (ne .component "worker")) }}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "reroll.serviceAccountName" . | quote }}
  namespace: {{ include "reroll.namespace" .root | quote }}
  labels:
    {{- toYaml (merge (include "reroll.labels" . | fromYaml) $account.labels) | nindent 4 }}
  {{- with $account.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- if not (kindIs "invalid" $account.automountServiceAccountToken) }}
automountServiceAccountToken: {{ $account.automountServiceAccountToken }}
{{- end }}
{{- with include "reroll.imagePullSecrets" .root }}
{{ . }}
{{- end }}
{{- end }}
{{- end -}}
