{{/* From values to arguments and environment variables (options.json says which). */}}

{{/* What a list holds, or text with commas, as a YAML list. */}}
{{- define "reroll.items" -}}
{{- $items := list -}}
{{- range kindIs "string" . | ternary (splitList "," (toString .)) (. | default list) -}}
{{- if trim (toString .) -}}{{- $items = append $items (trim (toString .)) -}}{{- end -}}
{{- end -}}
{{- toYaml $items -}}
{{- end -}}

{{/* The value at a dotted path, as text; '' if there is none. Takes `root` and `path`. */}}
{{- define "reroll.valueAt" -}}
{{- $at := .root.Values -}}
{{- range splitList "." .path -}}
{{- $at = kindIs "map" $at | ternary (get (kindIs "map" $at | ternary $at dict) .) "" -}}
{{- end -}}
{{- if kindIs "slice" $at -}}
{{- join "," $at -}}
{{- else if kindIs "float64" $at -}}
{{- int64 $at -}}
{{- else if not (kindIs "invalid" $at) -}}
{{- $at -}}
{{- end -}}
{{- end -}}

{{/* The options of a component that are set, as a YAML list of flag, env and text: those that are credentials, or those
     that are not. Takes `root`, `component` and `sensitive`. */}}
{{- define "reroll.setOptions" -}}
{{- $root := .root -}}
{{- $component := .component -}}
{{- $sensitive := .sensitive -}}
{{- $hasAdmin := include "reroll.isAdminEnabled" .root -}}
{{- range $option := (.root.Files.Get "options.json" | fromJson).options }}
{{- $isOf := or (has $component $option.apps) (and (eq $component "standalone") (or $hasAdmin (not (hasPrefix "admin." $option.value)))) }}
{{- if and $isOf (eq $option.sensitive $sensitive) }}
{{- $text := include "reroll.optionText" (dict "root" $root "option" $option) }}
{{- /* An empty list of these is none; without a list, the default applies. */}}
{{- $isNone := and (eq $option.flag "--secret-types-to-ignore") (kindIs "slice" $root.Values.reloader.secretTypesToIgnore) }}
{{- if and (or $isNone (ne $text "")) (ne $text $option.default) }}
- {{ dict "flag" $option.flag "env" $option.env "text" $text | toJson }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* What an option is set to; '' if it is not, or has no meaning beside other values. Takes `root` and `option`. */}}
{{- define "reroll.optionText" -}}
{{- $values := .root.Values -}}
{{- $text := include "reroll.valueAt" (dict "root" .root "path" .option.value) -}}
{{- if and $values.redis.enabled (hasPrefix "redis.external." .option.value) -}}
{{- else if and (eq .option.flag "--redis-max-memory") (not $values.redis.enabled) -}}
{{- else if and (eq .option.flag "--namespace-selector") (not $values.reloader.watchGlobally) -}}
{{- else if and (eq .option.flag "--reload-strategy") (eq $text "default") -}}
{{- else if eq .option.flag "--lease-name" -}}
{{- include "reroll.leaseName" .root -}}
{{- else if eq .option.flag "--cluster-name" -}}
{{- include "reroll.clusterName" .root -}}
{{- else if and (eq .option.form "list") (not .option.isOneText) -}}
{{- include "reroll.items" $text | fromYamlArray | join "," -}}
{{- else -}}
{{- $text -}}
{{- end -}}
{{- end -}}

{{- define "reroll.leaseName" -}}
{{- .Values.reloader.lease.name | default (include "reroll.componentName" (dict "root" . "component" "watcher")) -}}
{{- end -}}

{{/* With which every key in Redis begins, if the cluster's name is known (libs/redis/src/catalog/keys.ts). */}}
{{- define "reroll.redisPrefix" -}}
{{- $lease := include "reroll.leaseName" . -}}
{{- $names := list (include "reroll.clusterName" .) (include "reroll.namespace" .) -}}
{{- printf "{reroll:%s}" (join ":" (eq $lease "reroll-watcher" | ternary $names (append $names $lease))) -}}
{{- end -}}

{{/* Where kube-system may not be read, a Redis of our own needs no name that is known elsewhere. */}}
{{- define "reroll.clusterName" -}}
{{- if .Values.reloader.clusterName -}}
{{- .Values.reloader.clusterName -}}
{{- else if and (not .Values.reloader.watchGlobally) .Values.redis.enabled -}}
{{- include "reroll.fullname" . -}}
{{- end -}}
{{- end -}}

{{/* Namespaces of a scoped install, as a YAML list: that of the release too. */}}
{{- define "reroll.namespaces" -}}
{{- $given := include "reroll.items" .Values.reloader.namespaces | fromYamlArray -}}
{{- toYaml (append $given (include "reroll.namespace" .) | uniq | sortAlpha) -}}
{{- end -}}

{{/* Namespaces that an install for the whole cluster leaves alone, as a YAML list. */}}
{{- define "reroll.ignoredNamespaces" -}}
{{- $ignored := list -}}
{{- if .Values.reloader.watchGlobally -}}
{{- $ignored = include "reroll.items" .Values.reloader.ignoreNamespaces | fromYamlArray -}}
{{- if not .Values.reloader.watchKubeSystem -}}{{- $ignored = append $ignored "kube-system" | uniq -}}{{- end -}}
{{- end -}}
{{- toYaml $ignored -}}
{{- end -}}

{{/* The role first: the component, or `all` of a standalone process. */}}
{{- define "reroll.args" -}}
{{- $reloader := .root.Values.reloader -}}
{{- $args := list (eq .component "standalone" | ternary "all" .component) -}}
{{- range include "reroll.setOptions" (merge (dict "sensitive" false) .) | fromYamlArray -}}
{{- $args = append $args (printf "%s=%s" .flag .text) -}}
{{- end -}}
{{- $isAdmin := eq .component "admin" -}}
{{- with and (has .component (list "watcher" "standalone")) (include "reroll.ignoredNamespaces" .root | fromYamlArray) -}}
{{- $args = append $args (printf "--namespaces-to-ignore=%s" (join "," .)) -}}
{{- end -}}
{{- if not $isAdmin -}}{{- $args = concat $args (include "reroll.scopeArgs" .root | fromYamlArray) -}}{{- end -}}
{{- if include "reroll.servesApi" . -}}
{{- $args = concat $args (include "reroll.adminArgs" .root | fromYamlArray) -}}
{{- else if eq .component "standalone" -}}
{{- $args = append $args (printf "--api-addr=127.0.0.1:%d" (int .root.Values.admin.port)) -}}
{{- end -}}
{{- if ne (int $reloader.metricsPort) 9090 -}}{{- $args = append $args (printf "--metrics-addr=:%d" (int $reloader.metricsPort)) -}}{{- end -}}
{{- $args = concat $args (include "reroll.redisArgs" . | fromYamlArray) -}}
{{- if and $reloader.hashKey.enabled (not $isAdmin) -}}{{- $args = append $args "--hash-key-file=/etc/reroll/hash-keys/keys" -}}{{- end -}}
{{- toYaml (concat $args ((index .root.Values .component).extraArgs | default list)) -}}
{{- end -}}

{{/* What watcher and worker are told of what they are to see, as a YAML list. */}}
{{- define "reroll.scopeArgs" -}}
{{- $reloader := .Values.reloader -}}
{{- $args := list -}}
{{- if not $reloader.watchGlobally -}}
{{- $args = append $args (printf "--namespaces=%s" (include "reroll.namespaces" . | fromYamlArray | join ",")) -}}
{{- end -}}
{{- if $reloader.ignoreSecrets -}}{{- $args = append $args "--resources-to-ignore=secrets" -}}{{- end -}}
{{- if $reloader.ignoreConfigMaps -}}{{- $args = append $args "--resources-to-ignore=configmaps" -}}{{- end -}}
{{- $types := list -}}
{{- if $reloader.ignoreJobs -}}{{- $types = append $types "jobs" -}}{{- end -}}
{{- if $reloader.ignoreCronJobs -}}{{- $types = append $types "cronjobs" -}}{{- end -}}
{{- with $types -}}{{- $args = append $args (printf "--ignored-workload-types=%s" (join "," .)) -}}{{- end -}}
{{- toYaml $args -}}
{{- end -}}

{{/* Credentials among the options and variables of `env.secret`: names and values, of all components. */}}
{{- define "reroll.secretEnv" -}}
{{- $entries := dict -}}
{{- range $component := list "watcher" "worker" "admin" -}}
{{- range include "reroll.setOptions" (dict "root" $ "component" $component "sensitive" true) | fromYamlArray -}}
{{- $_ := set $entries .env .text -}}
{{- end -}}
{{- end -}}
{{- range $name, $value := .Values.reloader.deployment.env.secret -}}
{{- if not (empty $value) -}}{{- $_ := set $entries $name (toString $value) -}}{{- end -}}
{{- end -}}
{{- if $entries -}}{{- toYaml $entries -}}{{- end -}}
{{- end -}}

{{/* Variables; of those with one name the last, because a list with both would be refused. */}}
{{- define "reroll.env" -}}
{{- $all := include "reroll.allEnv" . | fromYamlArray -}}
{{- $last := dict -}}
{{- range $all -}}{{- $_ := set $last .name . -}}{{- end -}}
{{- $env := list -}}
{{- range $all -}}
{{- if hasKey $last .name -}}
{{- $env = append $env (get $last .name) -}}
{{- $_ := unset $last .name -}}
{{- end -}}
{{- end -}}
{{- toYaml $env -}}
{{- end -}}

{{- define "reroll.allEnv" -}}
{{- $root := .root -}}
{{- $fullname := include "reroll.fullname" .root -}}
- name: POD_NAME
  valueFrom: { fieldRef: { fieldPath: metadata.name } }
- name: POD_NAMESPACE
  valueFrom: { fieldRef: { fieldPath: metadata.namespace } }
{{- include "reroll.redisEnv" .root }}
{{- if include "reroll.relaysToLeader" . }}
- name: POD_IP
  valueFrom: { fieldRef: { fieldPath: status.podIP } }
{{- end }}
{{- if and (eq .component "standalone") .root.Values.redis.enabled }}
# Where it makes the folder of its Redis.
- name: TMPDIR
  value: /run/reroll
{{- end }}
{{- if and (has .component (list "watcher" "standalone")) .root.Values.reloader.metaInfo.enabled }}
- name: RELOADER_NAMESPACE
  valueFrom: { fieldRef: { fieldPath: metadata.namespace } }
- name: RELOADER_DEPLOYMENT_NAME
  value: {{ include "reroll.componentName" . | quote }}
{{- end }}
{{- range include "reroll.setOptions" (merge (dict "sensitive" true) .) | fromYamlArray }}
- name: {{ .env | quote }}
  valueFrom: { secretKeyRef: { name: {{ $fullname | quote }}, key: {{ .env | quote }} } }
{{- end }}
{{- with .root.Values.reloader.deployment.env }}
{{- range $name, $value := .open }}
{{- if not (empty $value) }}
- name: {{ $name | quote }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}
{{- range $name, $value := .secret }}
{{- if not (empty $value) }}
- name: {{ $name | quote }}
  valueFrom: { secretKeyRef: { name: {{ $fullname | quote }}, key: {{ $name | quote }} } }
{{- end }}
{{- end }}
{{- range $name, $path := .field }}
{{- if not (empty $path) }}
- name: {{ $name | quote }}
  valueFrom: { fieldRef: { fieldPath: {{ $path | quote }} } }
{{- end }}
{{- end }}
{{- range $secret, $keys := .existing }}
{{- range $name, $key := $keys }}
- name: {{ $name | quote }}
  valueFrom: { secretKeyRef: { name: {{ $secret | quote }}, key: {{ $key | quote }} } }
{{- end }}
{{- end }}
{{- end }}
{{- with (index .root.Values .component).extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Names of the variables in the values, of all components, as a YAML list. */}}
{{- define "reroll.envNames" -}}
{{- $env := .Values.reloader.deployment.env | default dict -}}
{{- $names := concat (keys ($env.open | default dict)) (keys ($env.secret | default dict)) (keys ($env.field | default dict)) -}}
{{- range $env.existing }}{{ $names = concat $names (keys .) }}{{ end -}}
{{- toYaml $names -}}
{{- end -}}
