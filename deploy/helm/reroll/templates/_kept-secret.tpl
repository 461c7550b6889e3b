{{/* Values of Secrets that are made once and then kept: from the cluster if they are there, else random ones. Without a
     cluster (helm template, Argo CD) they are others each time. All take `root`. */}}

{{/* One value as it is in a Secret's data. Takes `name`, `key` and `length`. Each template gets the same. */}}
{{- define "reroll.keptSecret" -}}
{{- if not (hasKey .root "keptSecrets") -}}{{- $_ := set .root "keptSecrets" dict -}}{{- end -}}
{{- $made := .root.keptSecrets -}}
{{- $id := printf "%s/%s" .name .key -}}
{{- if not (hasKey $made $id) -}}
{{- $there := lookup "v1" "Secret" (include "reroll.namespace" .root) .name | default dict -}}
{{- $data := $there.data | default dict -}}
{{- $_ := set $made $id (get $data .key | default (randAlphaNum (int .length) | b64enc)) -}}
{{- end -}}
{{- get $made $id -}}
{{- end -}}

{{/* Of the same, so that another one restarts who has read it. Of nothing but what was made here: from the hash of a
     password that somebody has chosen, whoever may read pods could guess it. */}}
{{- define "reroll.keptChecksum" -}}
{{- $value := include "reroll.keptSecret" . | b64dec -}}
{{- if regexMatch (printf "^[A-Za-z0-9]{%d}$" (int .length)) $value -}}
{{- sha256sum $value -}}
{{- end -}}
{{- end -}}

{{/* The passwords of the users of our own Redis, as a YAML list; nothing if they are somebody else's. */}}
{{- define "reroll.ownRedisPasswords" -}}
{{- if not .Values.redis.auth.existingSecret -}}
{{- range include "reroll.redisUsers" . | fromYamlArray }}
- { name: {{ include "reroll.redisName" $ | quote }}, key: {{ . }}-password, length: 32 }
{{- end }}
{{- end -}}
{{- end -}}

{{/* Of all of them; nothing if one was not made here. */}}
{{- define "reroll.redisPasswordsChecksum" -}}
{{- $root := . -}}
{{- $checksums := list -}}
{{- range include "reroll.ownRedisPasswords" . | fromYamlArray -}}
{{- $checksums = append $checksums (include "reroll.keptChecksum" (merge (dict "root" $root) .)) -}}
{{- end -}}
{{- if and $checksums (not (has "" $checksums)) -}}{{- join "," $checksums | sha256sum -}}{{- end -}}
{{- end -}}

{{/* The certificate of our own Redis as `tls.crt`, `tls.key` and `ca.crt`, as they are in a Secret's data: from the cluster if it is
     there, else made here; nothing if it is somebody else's. Each template gets the same. */}}
{{- define "reroll.ownRedisCertificate" -}}
{{- $name := include "reroll.redisTlsSecret" . -}}
{{- if and $name (not .Values.redis.tls.existingSecret) -}}
{{- if not (hasKey . "redisCertificate") -}}
{{- $data := (lookup "v1" "Secret" (include "reroll.namespace" .) $name | default dict).data | default dict -}}
{{- if not (and (get $data "tls.crt") (get $data "tls.key") (get $data "ca.crt")) -}}
{{- $host := include "reroll.redisName" . -}}
{{- $service := printf "%s.%s" $host (include "reroll.namespace" .) -}}
{{- $names := list $host $service (printf "%s.svc" $service) (printf "%s.svc.cluster.local" $service) "localhost" -}}
{{- $authority := genCA (printf "%s-ca" $host) 3650 -}}
{{- $made := genSignedCert $host (list "127.0.0.1") $names 3650 $authority -}}
{{- $data = dict "tls.crt" ($made.Cert | b64enc) "tls.key" ($made.Key | b64enc) "ca.crt" ($authority.Cert | b64enc) -}}
{{- end -}}
{{- $_ := set . "redisCertificate" (pick $data "tls.crt" "tls.key" "ca.crt") -}}
{{- end -}}
{{- toYaml .redisCertificate -}}
{{- end -}}
{{- end -}}

{{/* The key of the hashes; nothing if there is none or it is somebody else's. */}}
{{- define "reroll.ownHashKey" -}}
{{- if and .Values.reloader.hashKey.enabled (not .Values.reloader.hashKey.existingSecret) -}}
{{- toYaml (dict "name" (printf "%s-hash-keys" (include "reroll.fullname" .)) "key" "keys" "length" 48) -}}
{{- end -}}
{{- end -}}
