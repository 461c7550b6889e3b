{{/* Values of Secrets that are made once and then kept: from the cluster if they are there, else random ones. Without a
     cluster (helm template, Argo CD) they are others each time. All take `root`. */}}

{{/* One value as it is in a Secret's data. Takes `name`, `key` and `length`. Each template gets the same. */}}
{{- define "reroll.keptSecret" -}}
{{- if not (hasKey .root "keptSecrets") -}}{{- $_ := set .root "keptSecrets" dict -}}{{- end -}}
{{- $made := .root.keptSecrets -}}
{{- if not (hasKey $made .name) -}}
{{- $there := lookup "v1" "Secret" (include "reroll.namespace" .root) .name | default dict -}}
{{- $data := $there.data | default dict -}}
{{- $_ := set $made .name (get $data .key | default (randAlphaNum (int .length) | b64enc)) -}}
{{- end -}}
{{- get $made .name -}}
{{- end -}}

{{/* Of the same, so that another one restarts who has read it. Of nothing but what was made here: from the hash of a
     password that somebody has chosen, whoever may read pods could guess it. */}}
{{- define "reroll.keptChecksum" -}}
{{- $value := include "reroll.keptSecret" . | b64dec -}}
{{- if regexMatch (printf "^[A-Za-z0-9]{%d}$" (int .length)) $value -}}
{{- sha256sum $value -}}
{{- end -}}
{{- end -}}

{{/* The password of our own Redis; nothing if it is somebody else's. */}}
{{- define "reroll.ownRedisPassword" -}}
{{- if not .Values.redis.auth.existingSecret -}}
{{- toYaml (dict "name" (include "reroll.redisName" .) "key" "redis-password" "length" 32) -}}
{{- end -}}
{{- end -}}

{{/* The key of the hashes; nothing if there is none or it is somebody else's. */}}
{{- define "reroll.ownHashKey" -}}
{{- if and .Values.reloader.hashKey.enabled (not .Values.reloader.hashKey.existingSecret) -}}
{{- toYaml (dict "name" (printf "%s-hash-keys" (include "reroll.fullname" .)) "key" "keys" "length" 48) -}}
{{- end -}}
{{- end -}}
