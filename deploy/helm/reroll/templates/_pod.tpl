{{/* What the pods of our processes have in common. All take `root` and `component`. */}}

{{/* A Go duration in milliseconds, without what is less than one. */}}
{{- define "reroll.milliseconds" -}}
{{- $milliseconds := 0.0 -}}
{{- $units := dict "ns" 1e-6 "us" 1e-3 "µs" 1e-3 "μs" 1e-3 "ms" 1 "s" 1000 "m" 60000 "h" 3600000 "d" 86400000 -}}
{{- range regexFindAll "[0-9.]+(ns|us|µs|μs|ms|s|m|h|d)" . -1 -}}
{{- $unit := regexFind "[^0-9.]+" . -}}
{{- $milliseconds = addf $milliseconds (mulf (trimSuffix $unit . | float64) (get $units $unit)) -}}
{{- end -}}
{{- $milliseconds | int64 -}}
{{- end -}}

{{/* The same in whole seconds, rounded up. */}}
{{- define "reroll.seconds" -}}
{{- divf (include "reroll.milliseconds" . | float64) 1000 | ceil | int64 -}}
{{- end -}}

{{/* How long an orderly end may take at most; without a value, what the program allows itself. */}}
{{- define "reroll.drainSeconds" -}}
{{- include "reroll.seconds" (.Values.reloader.shutdownTimeout | default "25s") -}}
{{- end -}}

{{- define "reroll.gracePeriod" -}}
{{- $drain := include "reroll.drainSeconds" .root | int -}}
{{- (index .root.Values .component).terminationGracePeriodSeconds | default (add $drain 10) -}}
{{- end -}}

{{/* OpenShift gives each namespace its own ids, and refuses others. Takes `root`, `id`, `group` and `added`. */}}
{{- define "reroll.podSecurityContext" -}}
{{- $context := dict "runAsNonRoot" true "seccompProfile" (dict "type" "RuntimeDefault") -}}
{{- if not (include "reroll.runsOnOpenshift" .root) -}}
{{- $context = merge $context (dict "runAsUser" .id "runAsGroup" .group "fsGroup" .group) -}}
{{- end -}}
{{- toYaml (mergeOverwrite $context (deepCopy .added)) -}}
{{- end -}}

{{- define "reroll.containerSecurityContext" -}}
{{- $context := dict "allowPrivilegeEscalation" false "readOnlyRootFilesystem" true "capabilities" (dict "drop" (list "ALL")) -}}
{{- toYaml (mergeOverwrite $context (deepCopy .added)) -}}
{{- end -}}

{{/* What every pod of ours takes of the values about how and where it runs. Takes the root. */}}
{{- define "reroll.podClasses" -}}
{{- $deployment := .Values.reloader.deployment -}}
{{- if not (kindIs "invalid" $deployment.hostUsers) }}
hostUsers: {{ $deployment.hostUsers }}
{{- end }}
{{- with $deployment.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with $deployment.runtimeClassName }}
runtimeClassName: {{ . | quote }}
{{- end }}
{{- with $deployment.schedulerName }}
schedulerName: {{ . | quote }}
{{- end }}
{{- with $deployment.dnsConfig }}
dnsConfig:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $deployment.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $deployment.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "reroll.pod" -}}
{{- $deployment := .root.Values.reloader.deployment -}}
{{- $own := index .root.Values .component -}}
{{- with include "reroll.imagePullSecrets" .root }}
{{- . }}
{{ end -}}
serviceAccountName: {{ include "reroll.serviceAccountName" . | quote }}
automountServiceAccountToken: {{ kindIs "invalid" $deployment.automountServiceAccountToken | ternary true $deployment.automountServiceAccountToken }}
enableServiceLinks: false
terminationGracePeriodSeconds: {{ include "reroll.gracePeriod" . }}
securityContext:
  {{- include "reroll.podSecurityContext" (dict "root" .root "id" 65532 "group" 65532 "added" $deployment.securityContext) | nindent 2 }}
{{- include "reroll.podClasses" .root }}
{{- with $deployment.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
{{- with $deployment.topologySpreadConstraints }}
  {{- toYaml . | nindent 2 }}
{{- else }}
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "reroll.selectorLabels" . | nindent 8 }}
{{- end }}
containers:
  - name: {{ .component | quote }}
    {{- include "reroll.container" . | nindent 4 }}
{{- $volumes := include "reroll.volumes" . | fromYamlArray }}
{{- with concat $volumes ($deployment.volumes | default list) (.root.Values.reloader.volumes | default list) }}
volumes:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "reroll.container" -}}
{{- $values := .root.Values -}}
{{- $deployment := $values.reloader.deployment -}}
{{- $own := index $values .component -}}
image: {{ include "reroll.image" . }}
imagePullPolicy: {{ $values.image.pullPolicy }}
{{- with include "reroll.args" . | fromYamlArray }}
args:
  {{- toYaml . | nindent 2 }}
{{- end }}
env:
  {{- include "reroll.env" . | nindent 2 }}
ports:
  - name: http
    containerPort: {{ $values.reloader.metricsPort }}
{{- if include "reroll.servesApi" . }}
  - name: api
    containerPort: {{ $values.admin.port }}
{{- end }}
{{- if $values.reloader.enablePProf }}
  - name: pprof
    containerPort: {{ regexFind "[0-9]+$" $values.reloader.pprofAddr }}
{{- end }}
startupProbe:
  httpGet: { path: /live, port: http }
  periodSeconds: 2
  timeoutSeconds: 5
  failureThreshold: 60
livenessProbe:
  {{- $liveness := dict "httpGet" (dict "path" "/live" "port" "http") "periodSeconds" 10 "timeoutSeconds" 5 "failureThreshold" 5 }}
  {{- include "reroll.probe" (dict "initial" $liveness "added" $deployment.livenessProbe) | nindent 2 }}
readinessProbe:
  {{- $readiness := dict "httpGet" (dict "path" "/ready" "port" "http") "periodSeconds" 5 "timeoutSeconds" 5 "failureThreshold" 3 }}
  {{- include "reroll.probe" (dict "initial" $readiness "added" $deployment.readinessProbe) | nindent 2 }}
resources:
  {{- include "reroll.resources" . | nindent 2 }}
securityContext:
  {{- include "reroll.containerSecurityContext" (dict "added" $deployment.containerSecurityContext) | nindent 2 }}
{{- $mounts := include "reroll.volumeMounts" . | fromYamlArray }}
{{- with concat $mounts ($deployment.volumeMounts | default list) ($values.reloader.volumeMounts | default list) }}
volumeMounts:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* A probe with what the values add. A handler in them replaces ours: a probe has only one. Takes `initial` and `added`. */}}
{{- define "reroll.probe" -}}
{{- $initial := .initial -}}
{{- if or .added.exec .added.tcpSocket .added.grpc -}}{{- $initial = omit $initial "httpGet" -}}{{- end -}}
{{- toYaml (mergeOverwrite $initial (deepCopy .added)) -}}
{{- end -}}

{{/* A quantity of memory in bytes. */}}
{{- define "reroll.bytes" -}}
{{- $factors := dict "" 1 "m" 0.001 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 -}}
{{- $unit := regexFind "[A-Za-z]*$" . -}}
{{- mulf (trimSuffix $unit . | float64) (get $factors $unit | default 1 | float64) | int64 -}}
{{- end -}}

{{/* The smallest limit of memory that a component runs in. Takes `component`. */}}
{{- define "reroll.leastMemory" -}}
{{- eq .component "standalone" | ternary "256Mi" "128Mi" -}}
{{- end -}}

{{/* The memory limit in reloader.deployment.resources if it is smaller than that, as it may be for stakater/Reloader. */}}
{{- define "reroll.raisedMemory" -}}
{{- $memory := ((.root.Values.reloader.deployment.resources | default dict).limits | default dict).memory -}}
{{- if $memory -}}
{{- if lt (include "reroll.bytes" (toString $memory) | int64) (include "reroll.leastMemory" . | include "reroll.bytes" | int64) -}}{{- $memory -}}{{- end -}}
{{- end -}}
{{- end -}}

{{- define "reroll.resources" -}}
{{- $resources := .root.Values.reloader.deployment.resources | default (index .root.Values .component).resources | deepCopy -}}
{{- if include "reroll.raisedMemory" . -}}{{- $_ := set $resources.limits "memory" (include "reroll.leastMemory" .) -}}{{- end -}}
{{- toYaml $resources -}}
{{- end -}}

{{- define "reroll.volumes" -}}
{{- include "reroll.redisVolume" . }}
{{- if include "reroll.servesApi" . }}
{{- include "reroll.adminVolumes" .root }}
{{- end }}
{{- if and (eq .component "standalone") .root.Values.redis.enabled }}
- name: own-redis
  emptyDir: {}
{{- end }}
{{- $key := .root.Values.reloader.hashKey -}}
{{- if and $key.enabled (ne .component "admin") }}
- name: hash-keys
  secret:
    secretName: {{ include "reroll.hashKeySecret" .root | quote }}
    defaultMode: 0440
    items:
      - { key: {{ $key.existingSecret | empty | ternary "keys" $key.existingSecretKey | quote }}, path: keys }
{{- end }}
{{- end -}}

{{- define "reroll.volumeMounts" -}}
{{- if include "reroll.redisVolume" . }}
- { name: redis, mountPath: /etc/reroll/redis, readOnly: true }
{{- end }}
{{- if and (eq .component "standalone") .root.Values.redis.enabled }}
- { name: own-redis, mountPath: /run/reroll }
{{- end }}
{{- range ternary (include "reroll.adminVolumes" .root | fromYamlArray) list (include "reroll.servesApi" . | eq "true") }}
- { name: {{ .name }}, mountPath: /etc/reroll/{{ .name }}, readOnly: true }
{{- end }}
{{- if and .root.Values.reloader.hashKey.enabled (ne .component "admin") }}
- { name: hash-keys, mountPath: /etc/reroll/hash-keys, readOnly: true }
{{- end }}
{{- end -}}
