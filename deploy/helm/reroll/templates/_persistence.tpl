{{/* Whether the chart's own Redis gets a volume. Unless it is asked for, what there is already stays, because the claims of a
     StatefulSet cannot be changed. `auto`: if a class is named or the cluster has a default one. Without a cluster to ask
     (`helm template`) and in scoped installs, whose rights may not reach StorageClasses, only the named class counts. */}}
{{- define "reroll.isRedisPersistent" -}}
{{- $persistence := .Values.redis.persistence -}}
{{- $enabled := toString $persistence.enabled -}}
{{- $present := lookup "apps/v1" "StatefulSet" (include "reroll.namespace" .) (include "reroll.redisName" .) -}}
{{- if eq $enabled "true" -}}true
{{- else if $present -}}
{{- if dig "spec" "volumeClaimTemplates" list $present -}}true{{- end -}}
{{- else if eq $enabled "auto" -}}
{{- if or $persistence.storageClass (include "reroll.hasDefaultStorageClass" .) -}}true{{- end -}}
{{- end -}}
{{- end -}}

{{- define "reroll.hasDefaultStorageClass" -}}
{{- if and .Values.reloader.watchGlobally .Values.reloader.rbac.enabled -}}
{{- range dig "items" list (lookup "storage.k8s.io/v1" "StorageClass" "" "" | default dict) -}}
{{- if eq (dig "metadata" "annotations" "storageclass.kubernetes.io/is-default-class" "" .) "true" -}}true{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
