{{/* What KEDA needs to know of Redis. */}}

{{/* `redis`, `redis-cluster` or `redis-sentinel`, the names of KEDA's scalers. */}}
{{- define "reroll.kedaScaler" -}}
{{- $external := .Values.redis.external -}}
{{- if .Values.redis.enabled -}}redis
{{- else if $external.cluster -}}redis-cluster
{{- else if $external.sentinel.hosts -}}redis-sentinel
{{- else -}}redis
{{- end -}}
{{- end -}}

{{/* Addresses with commas, each with a port, which KEDA needs. Takes `addresses` and the default `port`. */}}
{{- define "reroll.kedaAddresses" -}}
{{- $all := list -}}
{{- $port := .port -}}
{{- range include "reroll.items" .addresses | fromYamlArray -}}
{{- $all = append $all (regexMatch ":[0-9]+$" . | ternary . (printf "%s:%d" . (int $port))) -}}
{{- end -}}
{{- join "," $all -}}
{{- end -}}

{{- define "reroll.kedaRedisMetadata" -}}
{{- $external := .Values.redis.external -}}
{{- $namespace := include "reroll.namespace" . -}}
{{- if .Values.redis.enabled -}}
address: {{ include "reroll.redisName" . }}.{{ $namespace }}.svc:6379
{{- if include "reroll.redisTlsSecret" . }}
enableTLS: "true"
{{- end }}
{{- else -}}
{{- if $external.cluster -}}
addresses: {{ include "reroll.kedaAddresses" (dict "addresses" $external.cluster "port" 6379) | quote }}
{{- else if $external.sentinel.hosts -}}
addresses: {{ include "reroll.kedaAddresses" (dict "addresses" $external.sentinel.hosts "port" 26379) | quote }}
sentinelMaster: {{ $external.sentinel.master | quote }}
{{- else -}}
{{- $given := $external.host | default "" -}}
{{- $host := contains ":" $given | ternary (printf "[%s]" $given) $given -}}
address: {{ printf "%s:%d" $host ($external.port | default 6379 | int) | quote }}
{{- end }}
{{- if and (not $external.cluster) $external.database }}
databaseIndex: {{ $external.database | int | quote }}
{{- end }}
{{- if $external.tls.enabled }}
enableTLS: "true"
{{- if $external.tls.insecureSkipVerify }}
unsafeSsl: "true"
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Parameters that come from Secrets, as a YAML list of parameter, name and key. */}}
{{- define "reroll.kedaSecrets" -}}
{{- $external := .Values.redis.external -}}
{{- $keys := $external.existingSecretKeys -}}
{{- $ours := include "reroll.fullname" . -}}
{{- if .Values.redis.enabled }}
{{- $password := include "reroll.redisPassword" (dict "root" . "user" "keda") | fromYaml }}
- { parameter: password, name: {{ $password.name | quote }}, key: {{ $password.key | quote }} }
{{- with include "reroll.redisTlsSecret" . }}
- { parameter: ca, name: {{ . | quote }}, key: ca.crt }
{{- end }}
{{- else }}
{{- if and $external.existingSecret $keys.username }}
- { parameter: username, name: {{ $external.existingSecret | quote }}, key: {{ $keys.username | quote }} }
{{- end }}
{{- if and $external.existingSecret $keys.password }}
- { parameter: password, name: {{ $external.existingSecret | quote }}, key: {{ $keys.password | quote }} }
{{- else if $external.password }}
- { parameter: password, name: {{ $ours | quote }}, key: REDIS_PASSWORD }
{{- end }}
{{- if and $external.existingSecret $keys.sentinelPassword }}
- { parameter: sentinelPassword, name: {{ $external.existingSecret | quote }}, key: {{ $keys.sentinelPassword | quote }} }
{{- else if $external.sentinel.password }}
- { parameter: sentinelPassword, name: {{ $ours | quote }}, key: REDIS_SENTINEL_PASSWORD }
{{- end }}
{{- with $external.tls.caSecret }}
- { parameter: ca, name: {{ . | quote }}, key: {{ $external.tls.caKey | quote }} }
{{- end }}
{{- with $external.tls.certSecret }}
- { parameter: cert, name: {{ . | quote }}, key: {{ $external.tls.certKey | quote }} }
- { parameter: key, name: {{ . | quote }}, key: {{ $external.tls.keyKey | quote }} }
{{- end }}
{{- end }}
{{- end -}}
