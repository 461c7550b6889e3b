{{/* Puts maps in the place of null (maps.json says which). Every template that is rendered begins with it, so that
     none has to ask whether a map is there; Helm renders them in an order of its own, and the first one does it for
     all. */}}
{{- define "reroll.fillMaps" -}}
{{- if not .Values.mapsAreFilled -}}
{{- $_ := set .Values "mapsAreFilled" true -}}
{{- range (.Files.Get "maps.json" | fromJson).maps -}}
{{- $at := $.Values -}}
{{- range initial .path -}}{{- $at = get $at . -}}{{- end -}}
{{- if not (kindIs "map" (get $at (last .path))) -}}
{{- $_ := set $at (last .path) (deepCopy .initial) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Values that the mode has no pod for, and that are not their defaults, as a YAML list. What is an error in one mode and not in
     the other is refused instead (requirements.yaml). */}}
{{- define "reroll.unusedValues" -}}
{{- $isStandalone := include "reroll.isStandalone" . -}}
{{- $components := $isStandalone | empty | ternary (list "standalone") (list "watcher" "worker" "admin") -}}
{{- $unused := list -}}
{{- range (.Files.Get "maps.json" | fromJson).maps -}}
{{- if and (hasKey . "default") (has (first .path) $components) -}}
{{- $value := get (get $.Values (first .path)) (last .path) -}}
{{- if ne (toJson $value) (toJson .default) -}}{{- $unused = append $unused (join "." .path) -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- if and $isStandalone .Values.redis.enabled .Values.redis.persistence.storageClass -}}
{{- $unused = append $unused "redis.persistence.storageClass" -}}
{{- end -}}
{{- toYaml $unused -}}
{{- end -}}
