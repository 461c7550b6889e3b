{{- define "reroll.redisName" -}}
{{- include "reroll.componentName" (dict "root" . "component" "redis") -}}
{{- end -}}

{{/* How watcher and worker reach Redis. */}}
{{- define "reroll.redisEnv" -}}
{{- $auth := .Values.redis.auth -}}
- name: REDIS_SERVER_PASSWORD
  valueFrom:
    secretKeyRef:
      name: {{ $auth.existingSecret | default (include "reroll.redisName" .) }}
      key: {{ $auth.existingSecret | empty | ternary "redis-password" $auth.existingSecretKey }}
- name: REDIS_URL
  value: redis://:$(REDIS_SERVER_PASSWORD)@{{ include "reroll.redisName" . }}:6379/0
{{- end -}}

{{/* redis.conf */}}
{{- define "reroll.redisConfig" -}}
dir /data
appendonly yes
appendfsync everysec
# With any other policy a full Redis drops jobs.
maxmemory-policy noeviction
{{- with .Values.redis.maxMemory }}
maxmemory {{ . }}
{{- end }}
{{- with .Values.redis.config }}
{{ . }}
{{- end }}
{{- end -}}
