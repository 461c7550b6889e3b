{{/* How watcher, worker and admin reach Redis, and what the chart's own Redis is told. */}}

{{- define "reroll.redisName" -}}
{{- include "reroll.componentName" (dict "root" . "component" "redis") -}}
{{- end -}}

{{/* Where the password of the chart's own Redis is, as `name` and `key`. */}}
{{- define "reroll.redisPassword" -}}
{{- $auth := .Values.redis.auth -}}
{{- if $auth.existingSecret -}}
name: {{ $auth.existingSecret | quote }}
key: {{ $auth.existingSecretKey | quote }}
{{- else -}}
name: {{ include "reroll.redisName" . | quote }}
key: redis-password
{{- end -}}
{{- end -}}

{{/* Files for Redis, as a YAML list of flag, file, secret and key. They are read anew, so they can be changed. */}}
{{- define "reroll.redisFiles" -}}
{{- if .Values.redis.enabled }}
- { flag: --redis-password-file, file: password, from: {{ include "reroll.redisPassword" . | fromYaml | toJson }} }
{{- else }}
{{- $external := .Values.redis.external }}
{{- $keys := $external.existingSecretKeys }}
{{- if and $external.existingSecret $keys.password }}
- { flag: --redis-password-file, file: password, from: { name: {{ $external.existingSecret | quote }}, key: {{ $keys.password | quote }} } }
{{- end }}
{{- if and $external.existingSecret $keys.sentinelPassword }}
- { flag: --redis-sentinel-password-file, file: sentinel-password, from: { name: {{ $external.existingSecret | quote }}, key: {{ $keys.sentinelPassword | quote }} } }
{{- end }}
{{- with $external.tls }}
{{- if .caSecret }}
- { flag: --redis-tls-ca-file, file: ca.crt, from: { name: {{ .caSecret | quote }}, key: {{ .caKey | quote }} } }
{{- end }}
{{- if .certSecret }}
- { flag: --redis-tls-cert-file, file: tls.crt, from: { name: {{ .certSecret | quote }}, key: {{ .certKey | quote }} } }
- { flag: --redis-tls-key-file, file: tls.key, from: { name: {{ .certSecret | quote }}, key: {{ .keyKey | quote }} } }
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "reroll.redisArgs" -}}
{{- if .Values.redis.enabled }}
- --redis-host={{ include "reroll.redisName" . }}
{{- end }}
{{- range include "reroll.redisFiles" . | fromYamlArray }}
- {{ .flag }}=/etc/reroll/redis/{{ .file }}
{{- end }}
{{- end -}}

{{- define "reroll.redisEnv" -}}
{{- $external := .Values.redis.external -}}
{{- if and (not .Values.redis.enabled) $external.existingSecret -}}
{{- with $external.existingSecretKeys.url }}
- name: REDIS_URL
  valueFrom: { secretKeyRef: { name: {{ $external.existingSecret | quote }}, key: {{ . | quote }} } }
{{- end }}
{{- with $external.existingSecretKeys.username }}
- name: REDIS_USERNAME
  valueFrom: { secretKeyRef: { name: {{ $external.existingSecret | quote }}, key: {{ . | quote }} } }
{{- end }}
{{- end -}}
{{- end -}}

{{/* One volume of all of them. */}}
{{- define "reroll.redisVolume" -}}
{{- with include "reroll.redisFiles" . | fromYamlArray }}
- name: redis
  projected:
    defaultMode: 0440
    sources:
      {{- range . }}
      - secret: { name: {{ .from.name | quote }}, items: [{ key: {{ .from.key | quote }}, path: {{ .file }} }] }
      {{- end }}
{{- end }}
{{- end -}}

{{/* Starts our own Redis: the password goes from its file to its standard input, so it is in no argument or variable.
     Newlines at its end are not part of it, as for those who connect. */}}
{{- define "reroll.redisStart" -}}
line=$(sed 's/\r$//; s/[\\"]/\\&/g' /etc/reroll/redis/password)
if [ -z "$line" ] || [ "$(printf '%s\n' "$line" | wc -l)" -ne 1 ]; then
  echo 'expected the password of Redis in one line, given none or several' >&2
  exit 1
fi
exec redis-server /etc/redis/redis.conf - <<END
requirepass "$line"
END
{{- end -}}

{{/* Whether it has read its file and answers. With a password that was changed since its start it still does. */}}
{{- define "reroll.redisPing" -}}
REDISCLI_AUTH="$(sed 's/\r$//' /etc/reroll/redis/password)" redis-cli ping | grep -Eq '^(PONG|NOAUTH)'
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
