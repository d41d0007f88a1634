{{/* Names and labels. */}}
{{- define "slipway.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "slipway.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains (include "slipway.name" .) .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "slipway.name" .) | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "slipway.labels" -}}
{{ include "slipway.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "slipway.selector" -}}
app.kubernetes.io/name: {{ include "slipway.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "slipway.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "slipway.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "slipway.image" -}}
{{- if .Values.image.digest }}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest }}
{{- else }}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end }}
{{- end }}

{{/* Secrets: the user's, or the chart's. */}}
{{- define "slipway.credentials" -}}
{{- printf "%s-credentials" (include "slipway.fullname" .) }}
{{- end }}

{{- define "slipway.keysSecret" -}}
{{- default (printf "%s-keys" (include "slipway.fullname" .)) .Values.keys.existingSecret }}
{{- end }}

{{- define "slipway.tlsSecret" -}}
{{- if eq .Values.tls.mode "existingSecret" }}
{{- .Values.tls.existingSecret }}
{{- else }}
{{- printf "%s-tls" (include "slipway.fullname" .) }}
{{- end }}
{{- end }}

{{/* The Secret with the authority that hosts trust; empty: their system knows it. */}}
{{- define "slipway.caSecret" -}}
{{- if .Values.tls.caKey }}
{{- if .Values.tls.caSecret }}
{{- .Values.tls.caSecret }}
{{- else if ne .Values.tls.mode "none" }}
{{- include "slipway.tlsSecret" . }}
{{- end }}
{{- end }}
{{- end }}

{{/* Addresses. */}}
{{- define "slipway.host" -}}
{{- (urlParse .).host | regexFind "^(\\[[^]]*\\]|[^:]*)" }}
{{- end }}

{{- define "slipway.scheme" -}}
{{- ternary "http" "https" (eq .Values.tls.mode "none") }}
{{- end }}

{{/* Names of a service in the cluster, as a JSON list. */}}
{{- define "slipway.serviceNames" -}}
{{- $name := printf "%s-%s" (include "slipway.fullname" .root) .component }}
{{- list $name (printf "%s.%s" $name .root.Release.Namespace) (printf "%s.%s.svc" $name .root.Release.Namespace) | toJson }}
{{- end }}

{{/* All names of the certificate, as a JSON list. */}}
{{- define "slipway.certificateNames" -}}
{{- $names := list (include "slipway.host" .Values.baseURL) }}
{{- if .Values.images.enabled }}
{{- $names = append $names (include "slipway.host" .Values.images.baseURL) }}
{{- $names = concat $names (include "slipway.serviceNames" (dict "root" . "component" "images") | fromJsonArray) }}
{{- end }}
{{- concat $names (include "slipway.serviceNames" (dict "root" . "component" "api") | fromJsonArray) | uniq | toJson }}
{{- end }}

{{/* The address of the API for the image service. */}}
{{- define "slipway.apiURL" -}}
{{- if .Values.images.apiURL }}
{{- .Values.images.apiURL }}
{{- else if eq .Values.tls.mode "existingSecret" }}
{{- .Values.baseURL }}
{{- else }}
{{- printf "%s://%s-api.%s.svc:%v" (include "slipway.scheme" .) (include "slipway.fullname" .) .Release.Namespace .Values.api.service.port }}
{{- end }}
{{- end }}

{{/* Whether API and images share one host, as "true" or empty. */}}
{{- define "slipway.oneHost" -}}
{{- if and .Values.images.enabled (eq (include "slipway.host" .Values.baseURL) (include "slipway.host" .Values.images.baseURL)) }}true{{ end }}
{{- end }}

{{/* Paths of images: internal/images/imageservice, Paths. */}}
{{- define "slipway.imagePaths" -}}
{{- list "/byid/" "/byapikey/" "/bytoken/" "/images/" "/boot-artifacts/" | toJson }}
{{- end }}

{{/* What the values allow together is checked once, by the settings. */}}
{{- define "slipway.check" -}}
{{- $managed := list "agent-binaries" "base-url" "blob-url" "build-id" "data-dir" "database-url" "http-port" "image-dir" "image-service-url" "key-file" "listen" "plain-http" "service-ca" "service-url" "tls-cert" "tls-key" "TEMPORAL_ADDRESS" "TEMPORAL_NAMESPACE" }}
{{- range $managed }}
{{- if hasKey $.Values.config . }}
{{- fail (printf "config: %s is set by other values of the chart" .) }}
{{- end }}
{{- end }}
{{- if not (regexMatch "^https?://" .Values.baseURL) }}
{{- fail "baseURL: require the address that hosts and users reach the API at, such as https://slipway.example.com" }}
{{- end }}
{{- if and (not (hasPrefix "https://" .Values.baseURL)) (ne .Values.tls.mode "none") }}
{{- fail "baseURL: require https:// unless tls.mode is none" }}
{{- end }}
{{- if and .Values.images.enabled (not (regexMatch "^https?://" .Values.images.baseURL)) }}
{{- fail "images.baseURL: require the address that machines reach images at, or images.enabled=false" }}
{{- end }}
{{- if not (or .Values.keys.create .Values.keys.existingSecret) }}
{{- fail "keys: require create, or an existingSecret with the files keys and token.key" }}
{{- end }}
{{- if and (eq .Values.tls.mode "existingSecret") (not .Values.tls.existingSecret) }}
{{- fail "tls.existingSecret: require the Secret with the certificate, or another tls.mode" }}
{{- end }}
{{- if and (eq .Values.tls.mode "certManager") (not .Values.tls.certManager.issuerRef.name) }}
{{- fail "tls.certManager.issuerRef.name: require the issuer of the certificate" }}
{{- end }}
{{- if not (or .Values.database.existingSecret .Values.database.url) }}
{{- fail "database: require existingSecret, or the address as url" }}
{{- end }}
{{- if and (not (regexMatch "^s3://" .Values.blobs.url)) (ne .Values.blobs.url "") }}
{{- fail "blobs.url: require s3://BUCKET?region=..., which all pods reach" }}
{{- else if not .Values.blobs.url }}
{{- fail "blobs.url: require an object store: pods have no folder in common" }}
{{- end }}
{{- if and .Values.temporal.tls.enabled (or .Values.temporal.tls.caKey .Values.temporal.tls.certKey) (not .Values.temporal.tls.existingSecret) }}
{{- fail "temporal.tls.existingSecret: require the Secret with the files, or empty caKey, certKey and keyKey" }}
{{- end }}
{{- if and (ne .Values.tls.mode "none") (include "slipway.oneHost" .) (or .Values.ingress.enabled .Values.route.enabled) }}
{{- fail "images.baseURL: require another host than baseURL where TLS is passed through to the pods" }}
{{- end }}
{{- if and .Values.images.enabled .Values.images.storage.persistent (ne .Values.images.storage.accessMode "ReadWriteMany") }}
{{- if or (gt (int .Values.images.replicas) 1) .Values.images.autoscaling.enabled }}
{{- fail "images.storage.accessMode: require ReadWriteMany for several pods, or persistent=false" }}
{{- end }}
{{- end }}
{{- if and .Values.kube.enabled (not .Values.kube.token.existingSecret) }}
{{- fail "kube.token.existingSecret: require the Secret with a token of the role kube" }}
{{- end }}
{{- if and .Values.api.bootPort (eq .Values.tls.mode "none") }}
{{- fail "api.bootPort: with tls.mode none the port of the API has no TLS already" }}
{{- end }}
{{- if and .Values.images.bootPort (eq .Values.tls.mode "none") }}
{{- fail "images.bootPort: with tls.mode none the port of the image service has no TLS already" }}
{{- end }}
{{- end }}
