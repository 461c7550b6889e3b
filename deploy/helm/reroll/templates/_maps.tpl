{{/* Puts maps in the place of null (maps.json says which). Every template that is rendered begins with it, so that
     none has to ask whether a map is there; Helm renders them in an order of its own. */}}
{{- define "reroll.fillMaps" -}}
{{- range (.Files.Get "maps.json" | fromJson).maps -}}
{{- $at := $.Values -}}
{{- range initial .path -}}{{- $at = get $at . -}}{{- end -}}
{{- if not (kindIs "map" (get $at (last .path))) -}}
{{- $_ := set $at (last .path) (deepCopy .initial) -}}
{{- end -}}
{{- end -}}
{{- end -}}
