{{/* A value of a Secret that is made once and then kept: from the cluster if it is there, else a random one.
     Without a cluster (helm template) it is another one each time. Takes `root`, `name`, `key` and `length`. */}}
{{- define "reroll.keptSecret" -}}
{{- $there := lookup "v1" "Secret" (include "reroll.namespace" .root) .name | default dict -}}
{{- $data := $there.data | default dict -}}
{{- get $data .key | default (randAlphaNum .length | b64enc) -}}
{{- end -}}
