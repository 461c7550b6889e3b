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
