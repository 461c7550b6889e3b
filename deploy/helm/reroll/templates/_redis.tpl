{{/* How our processes reach Redis, and what the chart's own Redis is told. */}}

{{- define "reroll.redisName" -}}
{{- include "reroll.componentName" (dict "root" . "component" "redis") -}}
{{- end -}}

{{- define "reroll.redisAccountName" -}}
{{- .Values.redis.serviceAccount.name | default (include "reroll.redisName" .) -}}
{{- end -}}

{{/* Whether each component has a user of its own at the chart's Redis. */}}
{{- define "reroll.hasRedisUsers" -}}
{{- $auth := .Values.redis.auth -}}
{{- if and (include "reroll.hasRedis" .) (or (not $auth.existingSecret) $auth.existingSecretKeys.watcher) -}}true{{- end -}}
{{- end -}}

{{/* Those that it has users for, as a YAML list. */}}
{{- define "reroll.redisUsers" -}}
{{- $keda := .Values.worker.keda -}}
{{- $users := list "watcher" "worker" "admin" -}}
{{- if and $keda.enabled (not $keda.prometheusAddress) -}}{{- $users = append $users "keda" -}}{{- end -}}
{{- toYaml $users -}}
{{- end -}}

{{/* The files of passwords that the chart's Redis reads: of its users, or of all together. */}}
{{- define "reroll.redisServerUsers" -}}
{{- if include "reroll.hasRedisUsers" . -}}{{- include "reroll.redisUsers" . -}}{{- else -}}- password{{- end -}}
{{- end -}}

{{/* Where a password of the chart's own Redis is, as `name` and `key`. Takes `root` and `user`. */}}
{{- define "reroll.redisPassword" -}}
{{- $auth := .root.Values.redis.auth -}}
{{- if not $auth.existingSecret -}}
name: {{ include "reroll.redisName" .root | quote }}
key: {{ .user }}-password
{{- else -}}
name: {{ $auth.existingSecret | quote }}
key: {{ $auth.existingSecretKeys.watcher | empty | ternary $auth.existingSecretKey (get $auth.existingSecretKeys .user) | quote }}
{{- end -}}
{{- end -}}

{{/* The user that a component is at a Redis of yours, as `username`, `existingSecret` and `existingSecretKey`; nothing if
     all are the same. Takes `root` and `component`. */}}
{{- define "reroll.externalRedisUser" -}}
{{- $redis := .root.Values.redis -}}
{{- $user := get $redis.external.users .component | default dict -}}
{{- if and (not $redis.enabled) $user.existingSecret -}}{{- toYaml $user -}}{{- end -}}
{{- end -}}

{{/* Files for Redis, as a YAML list of flag, file, secret and key. They are read again when they change. Takes `root`
     and `component`. */}}
{{- define "reroll.redisFiles" -}}
{{- if include "reroll.hasRedis" .root }}
- { flag: --redis-password-file, file: password, from: {{ include "reroll.redisPassword" (dict "root" .root "user" .component) | fromYaml | toJson }} }
{{- with include "reroll.redisTlsSecret" .root }}
- { flag: --redis-tls-ca-file, file: ca.crt, from: { name: {{ . | quote }}, key: ca.crt } }
{{- end }}
{{- else if not .root.Values.redis.enabled }}
{{- $external := .root.Values.redis.external }}
{{- $keys := $external.existingSecretKeys }}
{{- with include "reroll.externalRedisUser" . | fromYaml }}
- { flag: --redis-password-file, file: password, from: { name: {{ .existingSecret | quote }}, key: {{ .existingSecretKey | quote }} } }
{{- end }}
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

{{/* Takes `root` and `component`. */}}
{{- define "reroll.redisArgs" -}}
{{- if include "reroll.hasRedis" .root }}
- --redis-host={{ include "reroll.redisName" .root }}
{{- if include "reroll.redisTlsSecret" .root }}
- --redis-tls=true
{{- end }}
{{- end }}
{{- if include "reroll.hasRedisUsers" .root }}
- --redis-username=reroll-{{ .component }}
{{- end }}
{{- with include "reroll.externalRedisUser" . | fromYaml }}
- {{ printf "--redis-username=%s" .username | quote }}
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

{{/* One volume of all of them. Takes `root` and `component`. */}}
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

{{/* Starts our own Redis: passwords go from their files to its standard input, so they are in no argument or variable; those
     of users only as hashes. Newlines at the end of a file are not part of it, as for those who connect. */}}
{{- define "reroll.redisStart" -}}
read_password() {
  line=$(sed 's/\r$//' "/etc/reroll/redis/$1")
  if [ -z "$line" ] || [ "$(printf '%s\n' "$line" | wc -l)" -ne 1 ]; then
    echo "expected a password in one line in /etc/reroll/redis/$1, given none or several" >&2
    exit 1
  fi
  printf %s "$line"
}
{{- if include "reroll.hasRedisUsers" . }}
{{- $users := include "reroll.redisUsers" . | fromYamlArray }}
{{- range $users }}
secret=$(read_password {{ . }})
{{ . }}=$(printf %s "$secret" | sha256sum | cut -c 1-64)
{{- end }}
exec redis-server /etc/redis/redis.conf - <<END
user default off resetpass
{{- range .Files.Lines "files/redis-users.acl" }}
{{- $user := regexFind "^reroll-[a-z]+" . | trimPrefix "reroll-" }}
{{- if has $user $users }}
user reroll-{{ $user }} on #${{ $user }}{{ trimPrefix (printf "reroll-%s" $user) . }}
{{- end }}
{{- end }}
END
{{- else }}
secret=$(read_password password)
password=$(printf %s "$secret" | sed 's/[\\"]/\\&/g')
exec redis-server /etc/redis/redis.conf - <<END
requirepass "$password"
END
{{- end }}
{{- end -}}

{{/* Whether it has read its file and answers. With a password that was changed since its start it still does. */}}
{{- define "reroll.redisPing" -}}
{{- $user := include "reroll.hasRedisUsers" . | empty | ternary "" "watcher" -}}
REDISCLI_AUTH="$(sed 's/\r$//' /etc/reroll/redis/{{ $user | default "password" }})" redis-cli{{ if include "reroll.redisTlsSecret" . }} --tls --cacert /etc/reroll/redis-tls/ca.crt{{ end }}{{ with $user }} --user reroll-{{ . }}{{ end }} ping | grep -Eq '^(PONG|NOAUTH)'
{{- end -}}

{{/* The Secret with the certificate of the chart's own Redis; nothing without TLS. */}}
{{- define "reroll.redisTlsSecret" -}}
{{- $tls := .Values.redis.tls -}}
{{- if and (include "reroll.hasRedis" .) $tls.enabled -}}
{{- $tls.existingSecret | default (printf "%s-tls" (include "reroll.redisName" .)) -}}
{{- end -}}
{{- end -}}

{{/* An amount of memory as redis.conf has it, in bytes. */}}
{{- define "reroll.redisBytes" -}}
{{- $factors := dict "k" 1e3 "kb" 1024 "m" 1e6 "mb" 1048576 "g" 1e9 "gb" 1073741824 -}}
{{- $unit := regexFind "[a-z]*$" (lower .) -}}
{{- mulf (regexFind "^[0-9]+" . | float64) (get $factors $unit | default 1 | float64) | int64 -}}
{{- end -}}

{{/* redis.conf */}}
{{- define "reroll.redisConfig" -}}
dir /data
{{- if include "reroll.redisTlsSecret" . }}
port 0
tls-port 6379
tls-cert-file /etc/reroll/redis-tls/tls.crt
tls-key-file /etc/reroll/redis-tls/tls.key
tls-ca-cert-file /etc/reroll/redis-tls/ca.crt
# Who may come in is said by users and passwords.
tls-auth-clients no
{{- end }}
appendonly yes
appendfsync everysec
# With any other policy a full Redis drops jobs.
maxmemory-policy noeviction
# How often a second Redis looks for waits that are over. With 10, the default, a delayed job begins up to 100 ms late.
hz 100
{{- with .Values.redis.maxMemory }}
maxmemory {{ . }}
{{- end }}
{{- with .Values.redis.config }}
{{ . }}
{{- end }}
{{- end -}}
