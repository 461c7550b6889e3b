{{/* Whether the chart's own Redis gets a volume. Unless it is asked for, what there is already stays, because the claims of a
     StatefulSet cannot be changed. `auto`: if a class is named or the cluster has a default one. Without a cluster to ask
     (`helm template`) and in scoped installs, whose rights may not reach StorageClasses, only the named class counts. */}}
{{- define "reroll.isRedisPersistent" -}}
{{- $persistence := .Values.redis.persistence -}}
{{- $enabled := toString $persistence.enabled -}}
{{- $present := include "reroll.presentRedis" . | fromYaml -}}
{{- if eq $enabled "true" -}}true
{{- else if $present -}}
{{- if $present.isPersistent -}}true{{- end -}}
{{- else if eq $enabled "auto" -}}
{{- if or $persistence.storageClass (include "reroll.hasDefaultStorageClass" .) -}}true{{- end -}}
{{- end -}}
{{- end -}}

{{/* What is known of the StatefulSet that is there; nothing if there is none, or no cluster to ask. */}}
{{- define "reroll.presentRedis" -}}
{{- with lookup "apps/v1" "StatefulSet" (include "reroll.namespace" .) (include "reroll.redisName" .) -}}
isPersistent: {{ gt (len (dig "spec" "volumeClaimTemplates" list .)) 0 }}
{{- end -}}
{{- end -}}

{{- define "reroll.hasDefaultStorageClass" -}}
{{- if and .Values.reloader.watchGlobally .Values.reloader.rbac.enabled -}}
{{- range dig "items" list (lookup "storage.k8s.io/v1" "StorageClass" "" "" | default dict) -}}
{{- if eq (dig "metadata" "annotations" "storageclass.kubernetes.io/is-default-class" "" .) "true" -}}true{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
