{{/* What holds the worker's ServiceAccount to what a reload needs, whatever its roles allow: CEL for
     ValidatingAdmissionPolicies. */}}

{{/* `auto`: where the API server has the kind, and the chart makes rights for the whole cluster anyway. */}}
{{- define "reroll.hasWorkerPolicy" -}}
{{- $enabled := toString .Values.worker.admissionPolicy.enabled -}}
{{- $isServed := .Capabilities.APIVersions.Has "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy" -}}
{{- $isClusterWide := include "reroll.isClusterWide" (dict "root" . "component" "worker") -}}
{{- if or (eq $enabled "true") (and (eq $enabled "auto") $isServed $isClusterWide) -}}true{{- end -}}
{{- end -}}

{{/* Texts as a list of CEL. */}}
{{- define "reroll.celList" -}}
{{- $quoted := list -}}
{{- range . -}}{{- $quoted = append $quoted (squote .) -}}{{- end -}}
[{{ join ", " $quoted }}]
{{- end -}}

{{/* That two maps are equal but for some keys. Takes `new`, `old` and `but`, which is CEL for a list. */}}
{{- define "reroll.celEqualBut" -}}
{{ .new }}.all(k, k in {{ .but }} || (k in {{ .old }} && {{ .new }}[k] == {{ .old }}[k])) && {{ .old }}.all(k, k in {{ .but }} || k in {{ .new }})
{{- end -}}

{{/* The key of an annotation that users may choose. Takes `root`, `name` and `default`. */}}
{{- define "reroll.annotationKey" -}}
{{- get (.root.Values.reloader.custom_annotations | default dict) .name | default .default -}}
{{- end -}}

{{- define "reroll.workerPolicyHead" -}}
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: {{ printf "%s-%s" (include "reroll.clusterRoleName" .) .what | quote }}
  labels:
    {{- include "reroll.rbacLabels" . | nindent 4 }}
{{- end -}}

{{- define "reroll.workerPolicyMatch" -}}
failurePolicy: Fail
matchConditions:
  - name: worker
    expression: >-
      request.userInfo.username == 'system:serviceaccount:{{ include "reroll.namespace" .root }}:{{ include "reroll.serviceAccountName" . }}'
{{- end -}}

{{/* Takes what workerPolicyHead takes. */}}
{{- define "reroll.workerPolicyBinding" }}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{ printf "%s-%s" (include "reroll.clusterRoleName" .) .what | quote }}
  labels:
    {{- include "reroll.rbacLabels" . | nindent 4 }}
spec:
  policyName: {{ printf "%s-%s" (include "reroll.clusterRoleName" .) .what | quote }}
  validationActions: [Deny]
{{- end -}}

{{/* Namespaces in which nothing may be written. */}}
{{- define "reroll.workerPolicyNamespaces" -}}
{{- with include "reroll.ignoredNamespaces" .root | fromYamlArray }}
- message: Reroll leaves this namespace alone
  reason: Forbidden
  expression: >-
    !(request.namespace in {{ include "reroll.celList" . }})
{{- end }}
{{- end -}}

{{/* Kinds whose objects the worker patches. */}}
{{- define "reroll.workerPolicyResources" -}}
{{- $reloader := .root.Values.reloader -}}
- apiGroups: [apps]
  apiVersions: ['*']
  operations: [UPDATE]
  resources: [deployments, statefulsets, daemonsets]
- apiGroups: [batch]
  apiVersions: ['*']
  operations: [UPDATE]
  resources: [cronjobs, jobs]
- apiGroups: [argoproj.io]
  apiVersions: ['*']
  operations: [UPDATE]
  resources: [rollouts]
- apiGroups: [apps.openshift.io]
  apiVersions: ['*']
  operations: [UPDATE]
  resources: [deploymentconfigs]
{{- end -}}

{{/* Updates: markers in the pod template, annotations of Reroll, and what a feature needs. The rest stays as it is. */}}
{{- define "reroll.workerUpdates" -}}
{{- $root := .root -}}
{{- $lastReloadedFrom := include "reroll.annotationKey" (dict "root" $root "name" "lastReloadedFrom" "default" "reloader.stakater.com/last-reloaded-from") -}}
{{- $pausePeriod := include "reroll.annotationKey" (dict "root" $root "name" "pausePeriod" "default" "deployment.reloader.stakater.com/pause-period") -}}
{{- $pausedAt := include "reroll.annotationKey" (dict "root" $root "name" "pauseTime" "default" "deployment.reloader.stakater.com/paused-at") -}}
{{- $rolloutStrategy := include "reroll.annotationKey" (dict "root" $root "name" "rolloutStrategy" "default" "reloader.stakater.com/rollout-strategy") -}}
{{- $patchesCronJobs := eq $root.Values.reloader.cronJobStrategy "patch" -}}
{{ include "reroll.workerPolicyHead" . }}
spec:
  {{- include "reroll.workerPolicyMatch" . | nindent 2 }}
  matchConstraints:
    resourceRules:
      {{- include "reroll.workerPolicyResources" . | nindent 6 }}
  variables:
    - name: annotations
      expression: >-
        'annotations' in object.metadata ? object.metadata.annotations : {}
    - name: oldAnnotations
      expression: >-
        'annotations' in oldObject.metadata ? oldObject.metadata.annotations : {}
    # What of the spec may change at all. Everything else in it is compared as a whole.
    - name: writable
      expression: >-
        request.resource.resource == 'deployments' ? ['template', 'paused'] :
        request.resource.resource == 'rollouts' ? ['template', 'restartAt'] :
        request.resource.resource == 'cronjobs' ? {{ $patchesCronJobs | ternary "['jobTemplate']" "['']" }} :
        request.resource.resource == 'jobs' ? [''] : ['template']
    - name: template
      expression: >-
        request.resource.resource == 'cronjobs' ? object.spec.jobTemplate.spec.template :
        'template' in object.spec ? object.spec.template : {}
    - name: oldTemplate
      expression: >-
        request.resource.resource == 'cronjobs' ? oldObject.spec.jobTemplate.spec.template :
        'template' in oldObject.spec ? oldObject.spec.template : {}
    - name: templateMetadata
      expression: >-
        'metadata' in variables.template ? variables.template.metadata : {}
    - name: oldTemplateMetadata
      expression: >-
        'metadata' in variables.oldTemplate ? variables.oldTemplate.metadata : {}
    - name: templateAnnotations
      expression: >-
        'annotations' in variables.templateMetadata ? variables.templateMetadata.annotations : {}
    - name: oldTemplateAnnotations
      expression: >-
        'annotations' in variables.oldTemplateMetadata ? variables.oldTemplateMetadata.annotations : {}
    - name: podSpec
      expression: >-
        'spec' in variables.template ? variables.template.spec : {}
    - name: oldPodSpec
      expression: >-
        'spec' in variables.oldTemplate ? variables.oldTemplate.spec : {}
    - name: containers
      expression: >-
        'containers' in variables.podSpec ? variables.podSpec.containers : []
    - name: oldContainers
      expression: >-
        'containers' in variables.oldPodSpec ? variables.oldPodSpec.containers : []
    - name: paused
      expression: >-
        'paused' in object.spec && object.spec.paused
    - name: oldPaused
      expression: >-
        'paused' in oldObject.spec && oldObject.spec.paused
  validations:
    {{- include "reroll.workerPolicyNamespaces" . | nindent 4 }}
    - message: Reroll's worker may change no labels, owners or finalizers
      reason: Forbidden
      expression: >-
        {{ include "reroll.celEqualBut" (dict "new" "object.metadata" "old" "oldObject.metadata" "but" "['annotations', 'managedFields', 'generation', 'resourceVersion']") }}
    # The API server itself counts the templates of a DaemonSet, in the annotation deprecated.daemonset.template.generation.
    - message: Reroll's worker may change no annotations but its own
      reason: Forbidden
      expression: >-
        {{ include "reroll.celEqualBut" (dict "new" "variables.annotations" "old" "variables.oldAnnotations" "but" (include "reroll.celList" (list "reroll.dev/applied" "reroll.dev/next-job" "reroll.dev/reload-request" "deprecated.daemonset.template.generation" $pausedAt))) }}
    - message: Reroll's worker may change nothing of a spec but the pod template, paused and restartAt, where it needs them
      reason: Forbidden
      expression: >-
        {{ include "reroll.celEqualBut" (dict "new" "object.spec" "old" "oldObject.spec" "but" "variables.writable") }}
    {{- if $patchesCronJobs }}
    - message: Reroll's worker may change nothing of a CronJob's Jobs but the pod template
      reason: Forbidden
      expression: >-
        request.resource.resource != 'cronjobs' || (
        {{ include "reroll.celEqualBut" (dict "new" "object.spec.jobTemplate" "old" "oldObject.spec.jobTemplate" "but" "['spec']") }} &&
        {{ include "reroll.celEqualBut" (dict "new" "object.spec.jobTemplate.spec" "old" "oldObject.spec.jobTemplate.spec" "but" "['template']") }})
    {{- end }}
    - message: Reroll's worker may change nothing of a pod template but markers
      reason: Forbidden
      expression: >-
        {{ include "reroll.celEqualBut" (dict "new" "variables.template" "old" "variables.oldTemplate" "but" "['metadata', 'spec']") }} &&
        {{ include "reroll.celEqualBut" (dict "new" "variables.templateMetadata" "old" "variables.oldTemplateMetadata" "but" "['annotations']") }} &&
        {{ include "reroll.celEqualBut" (dict "new" "variables.podSpec" "old" "variables.oldPodSpec" "but" "['containers']") }}
    - message: Reroll's worker may change no annotations of pods but markers
      reason: Forbidden
      expression: >-
        {{ include "reroll.celEqualBut" (dict "new" "variables.templateAnnotations" "old" "variables.oldTemplateAnnotations" "but" (include "reroll.celList" (list $lastReloadedFrom "reroll.dev/reload-request"))) }}
    - message: Reroll's worker may change nothing of a container but markers among its variables
      reason: Forbidden
      expression: >-
        variables.containers.map(c, c.name) == variables.oldContainers.map(c, c.name) &&
        variables.containers.all(c, variables.oldContainers.exists(o, o.name == c.name &&
        {{ include "reroll.celEqualBut" (dict "new" "c" "old" "o" "but" "['env']") }}))
    - message: Reroll's worker may change no variables but markers
      reason: Forbidden
      expression: >-
        variables.containers.all(c, variables.oldContainers.exists(o, o.name == c.name &&
        ('env' in c ? c.env : []).filter(e, !({{ include "reroll.celIsMarker" . }})) ==
        ('env' in o ? o.env : []).filter(e, !({{ include "reroll.celIsMarker" . }}))))
    - message: a marker holds a hash and nothing else
      reason: Forbidden
      expression: >-
        variables.containers.all(c, !('env' in c) || c.env.all(e, !({{ include "reroll.celIsMarker" . }}) ||
        variables.oldContainers.exists(o, o.name == c.name && 'env' in o && e in o.env) ||
        (e.all(k, k in ['name', 'value']) && 'value' in e && e.value.matches('^([0-9a-f]{40}|(k[0-9a-f]{8}[.])?[0-9a-f]{64})$'))))
    - message: Reroll's worker may pause a Deployment only by its pause-period, and resume only what it paused
      reason: Forbidden
      expression: >-
        request.resource.resource != 'deployments' || variables.paused == variables.oldPaused ||
        (variables.paused ? ({{ squote $pausePeriod }} in variables.oldAnnotations && {{ squote $pausedAt }} in variables.annotations) :
        ({{ squote $pausedAt }} in variables.oldAnnotations && !({{ squote $pausedAt }} in variables.annotations)))
    - message: Reroll's worker may restart only a Rollout that asks for it
      reason: Forbidden
      expression: >-
        request.resource.resource != 'rollouts' ||
        ('restartAt' in object.spec ? 'restartAt' in oldObject.spec && object.spec.restartAt == oldObject.spec.restartAt : !('restartAt' in oldObject.spec)) ||
        ('restartAt' in object.spec && {{ squote $rolloutStrategy }} in variables.oldAnnotations && variables.oldAnnotations[{{ squote $rolloutStrategy }}] == 'restart')
{{- end -}}

{{- define "reroll.celIsMarker" -}}
e.name.startsWith('STAKATER_') && e.name.matches('^STAKATER_[A-Z0-9_]*_(CONFIGMAP|SECRET|SECRETPROVIDERCLASS)$')
{{- end -}}

{{/* Rights in all namespaces by which an account is as good as an administrator of the cluster: group, resource, subresource,
     verb. */}}
{{- define "reroll.powers" -}}
- ['*', '*', '', '*']
- [rbac.authorization.k8s.io, clusterroles, '', escalate]
- [rbac.authorization.k8s.io, clusterroles, '', bind]
- ['', users, '', impersonate]
- ['', groups, '', impersonate]
- ['', serviceaccounts, '', impersonate]
- ['', serviceaccounts, token, create]
# get and create: by WebSocket, a command in a container is a GET.
- ['', nodes, proxy, get]
- ['', nodes, proxy, create]
- ['', pods, exec, get]
- ['', pods, exec, create]
- ['', pods, ephemeralcontainers, patch]
- ['', pods, ephemeralcontainers, update]
- ['', pods, '', create]
- ['', pods, '', patch]
- ['', pods, '', update]
- [admissionregistration.k8s.io, mutatingwebhookconfigurations, '', create]
- [admissionregistration.k8s.io, mutatingwebhookconfigurations, '', patch]
- [admissionregistration.k8s.io, mutatingwebhookconfigurations, '', update]
{{- end -}}

{{/* The same, of kinds that make pods of a template: that of a Job cannot be changed. */}}
{{- define "reroll.templatePowers" -}}
{{- range list (list "apps" "deployments") (list "apps" "daemonsets") (list "apps" "statefulsets") (list "apps" "replicasets") (list "batch" "cronjobs") (list "" "replicationcontrollers") }}
{{- $kind := . }}
{{- range list "create" "patch" "update" }}
- {{ list (index $kind 0) (index $kind 1) "" . | toJson }}
{{- end }}
{{- end }}
- [batch, jobs, '', create]
{{- end -}}

{{/* That the account of a Job has none of these rights. One a validation: a check costs a third of what the API server lets one
     expression cost, and 28 of them are all that it lets one policy cost. Takes a list of rights. */}}
{{- define "reroll.celPowerless" -}}
{{- range . }}
- message: Reroll's worker creates no Job whose ServiceAccount is as good as an administrator of the cluster
  reason: Forbidden
  expression: >-
    variables.isTrusted || !authorizer.serviceAccount(request.namespace, variables.account).group({{ squote (index . 0) }}).resource({{ squote (index . 1) }})
    {{- with index . 2 }}.subresource({{ squote . }}){{ end }}.check({{ squote (index . 3) }}).allowed()
{{- end }}
{{- end -}}

{{/* What the policies for new Jobs begin with. Takes what workerPolicyHead takes. */}}
{{- define "reroll.workerJobPolicy" -}}
{{- $trusted := include "reroll.items" .root.Values.worker.admissionPolicy.privilegedJobNamespaces | fromYamlArray -}}
{{ include "reroll.workerPolicyHead" . }}
spec:
  {{- include "reroll.workerPolicyMatch" . | nindent 2 }}
  matchConstraints:
    resourceRules:
      - apiGroups: [batch]
        apiVersions: ['*']
        operations: [CREATE]
        resources: [jobs]
  variables:
    - name: podSpec
      expression: >-
        object.spec.template.spec
    - name: account
      expression: >-
        'serviceAccountName' in variables.podSpec && variables.podSpec.serviceAccountName != '' ? variables.podSpec.serviceAccountName : 'default'
    - name: isTrusted
      expression: >-
        {{ empty $trusted | ternary "false" (printf "request.namespace in %s" (include "reroll.celList" $trusted)) }}
{{- end -}}

{{/* The rest of those rights, in a policy of its own for their cost. */}}
{{- define "reroll.workerAccounts" -}}
{{ include "reroll.workerJobPolicy" . }}
  validations:
    {{- include "reroll.templatePowers" . | fromYamlArray | include "reroll.celPowerless" | nindent 4 }}
{{- end -}}

{{/* Jobs that are created: admission sees neither the CronJob nor the Job that they are copies of, so what it can
     refuse is what would make such a Job worth more than its namespace. */}}
{{- define "reroll.workerJobs" -}}
{{- $reloader := .root.Values.reloader -}}
{{ include "reroll.workerJobPolicy" . }}
    - name: annotations
      expression: >-
        'annotations' in object.metadata ? object.metadata.annotations : {}
    - name: owners
      expression: >-
        'ownerReferences' in object.metadata ? object.metadata.ownerReferences : []
    - name: containers
      expression: >-
        variables.podSpec.containers + ('initContainers' in variables.podSpec ? variables.podSpec.initContainers : [])
    - name: contexts
      expression: >-
        variables.containers.filter(c, 'securityContext' in c).map(c, c.securityContext) +
        ('securityContext' in variables.podSpec ? [variables.podSpec.securityContext] : [])
  validations:
    {{- include "reroll.workerPolicyNamespaces" . | nindent 4 }}
    - message: Reroll's worker creates Jobs only of a CronJob, or in the place of a Job
      reason: Forbidden
      expression: >-
        {{- $ofCronJob := "('reroll.dev/applied' in variables.annotations && 'cronjob.kubernetes.io/instantiate' in variables.annotations && variables.owners.size() == 1 && variables.owners[0].kind == 'CronJob')" }}
        {{- $again := "'reroll.dev/applied' in variables.annotations" }}
        {{- $pending := "('reroll.dev/twin-of' in variables.annotations && variables.owners.size() == 0 && object.spec.suspend)" }}
        {{- if $reloader.ignoreJobs }}
        {{ $ofCronJob }}
        {{- else }}
        {{ $again }} || {{ $pending }}
        {{- end }}
    - message: Reroll's worker creates no Job with access to its node
      reason: Forbidden
      expression: >-
        variables.isTrusted || (
        ['hostNetwork', 'hostPID', 'hostIPC'].all(f, !(f in variables.podSpec) || !variables.podSpec[f]) &&
        (!('volumes' in variables.podSpec) || variables.podSpec.volumes.all(v, !('hostPath' in v))) &&
        variables.containers.all(c, !('ports' in c) || c.ports.all(p, !('hostPort' in p) || p.hostPort == 0)))
    - message: Reroll's worker creates no Job with privileges
      reason: Forbidden
      expression: >-
        variables.isTrusted || variables.contexts.all(s,
        (!('privileged' in s) || !s.privileged) &&
        (!('procMount' in s) || s.procMount == 'Default') &&
        (!('windowsOptions' in s) || !('hostProcess' in s.windowsOptions) || !s.windowsOptions.hostProcess) &&
        (!('seccompProfile' in s) || s.seccompProfile.type != 'Unconfined') &&
        (!('appArmorProfile' in s) || s.appArmorProfile.type != 'Unconfined') &&
        (!('capabilities' in s) || !('add' in s.capabilities) || s.capabilities.add.all(a, a in ['AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'MKNOD', 'NET_BIND_SERVICE', 'SETFCAP', 'SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT'])))
    {{- include "reroll.powers" . | fromYamlArray | include "reroll.celPowerless" | nindent 4 }}
{{- end -}}
