{{/* Parts that pods have in common. Their argument is {root, component, values}, the values of the component; podSpec takes the name of
another serviceAccount, and whether the pod callsKubernetes, as well. */}}

{{- define "slipway.componentLabels" -}}
{{ include "slipway.labels" .root }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "slipway.componentSelector" -}}
{{ include "slipway.selector" .root }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "slipway.podMetadata" -}}
labels:
  {{- include "slipway.componentLabels" . | nindent 2 }}
  {{- with .values.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
annotations:
  checksum/settings: {{ include (print .root.Template.BasePath "/settings.yaml") .root | sha256sum }}
  {{- with .values.podAnnotations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{/* Pod security "restricted". OpenShift chooses user and groups. */}}
{{- define "slipway.podSecurity" -}}
securityContext:
  runAsNonRoot: true
  {{- if not .root.Values.openshift }}
  runAsUser: {{ .root.Values.runAs.user }}
  runAsGroup: {{ .root.Values.runAs.group }}
  fsGroup: {{ .root.Values.runAs.group }}
  fsGroupChangePolicy: OnRootMismatch
  {{- end }}
  seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "slipway.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  runAsNonRoot: true
  capabilities: {drop: [ALL]}
  seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "slipway.podSpec" -}}
serviceAccountName: {{ default (include "slipway.serviceAccount" .root) .serviceAccount }}
automountServiceAccountToken: {{ default false .callsKubernetes }}
# Variables of services would begin with the prefix of the settings.
enableServiceLinks: false
terminationGracePeriodSeconds: 30
{{ include "slipway.podSecurity" . }}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
  {{- if .values.topologySpreadConstraints }}
  {{- toYaml .values.topologySpreadConstraints | nindent 2 }}
  {{- else }}
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "slipway.componentSelector" . | nindent 8 }}
  {{- end }}
{{- end }}

{{/* Image, probes and what every container of a Deployment has. The argument has scheme, startup and ready as well. */}}
{{- define "slipway.container" -}}
image: {{ include "slipway.image" .root }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
{{ include "slipway.containerSecurity" . }}
resources:
  {{- toYaml .values.resources | nindent 2 }}
# The process answers from its first second on; until it is ready it migrates the database and connects.
startupProbe:
  httpGet: {path: {{ .startup }}, port: http, scheme: {{ .scheme | upper }}}
  periodSeconds: 2
  timeoutSeconds: 3
  failureThreshold: 150
livenessProbe:
  httpGet: {path: /live, port: http, scheme: {{ .scheme | upper }}}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: {path: {{ .ready }}, port: http, scheme: {{ .scheme | upper }}}
  periodSeconds: 5
  timeoutSeconds: 3
  failureThreshold: 2
{{- end }}

{{- define "slipway.secretEnv" -}}
- name: {{ .name }}
  valueFrom: {secretKeyRef: {name: {{ .secret }}, key: {{ .key }}}}
{{- end }}

{{- define "slipway.databaseEnv" -}}
{{- if .Values.database.existingSecret }}
{{- include "slipway.secretEnv" (dict "name" "SLIPWAY_DATABASE_URL" "secret" .Values.database.existingSecret "key" .Values.database.key) }}
{{- else }}
{{- include "slipway.secretEnv" (dict "name" "SLIPWAY_DATABASE_URL" "secret" (include "slipway.credentials" .) "key" "database-url") }}
{{- end }}
{{- end }}

{{- define "slipway.temporalEnv" -}}
- {name: TEMPORAL_ADDRESS, value: {{ .Values.temporal.address | quote }}}
- {name: TEMPORAL_NAMESPACE, value: {{ .Values.temporal.namespace | quote }}}
{{- with .Values.temporal.tls }}
{{- if .enabled }}
- {name: TEMPORAL_TLS, value: "true"}
{{- with .caKey }}
- {name: TEMPORAL_TLS_SERVER_CA_CERT_PATH, value: /run/slipway/temporal/{{ . }}}
{{- end }}
{{- with .certKey }}
- {name: TEMPORAL_TLS_CLIENT_CERT_PATH, value: /run/slipway/temporal/{{ . }}}
{{- end }}
{{- with .keyKey }}
- {name: TEMPORAL_TLS_CLIENT_KEY_PATH, value: /run/slipway/temporal/{{ . }}}
{{- end }}
{{- with .serverName }}
- {name: TEMPORAL_TLS_SERVER_NAME, value: {{ . | quote }}}
{{- end }}
{{- end }}
{{- end }}
{{- if .Values.temporal.apiKey.existingSecret }}
{{ include "slipway.secretEnv" (dict "name" "TEMPORAL_API_KEY" "secret" .Values.temporal.apiKey.existingSecret "key" .Values.temporal.apiKey.key) }}
{{- else if .Values.temporal.apiKey.value }}
{{ include "slipway.secretEnv" (dict "name" "TEMPORAL_API_KEY" "secret" (include "slipway.credentials" .) "key" "temporal-api-key") }}
{{- end }}
{{- end }}

{{- define "slipway.blobEnv" -}}
- {name: SLIPWAY_BLOB_URL, value: {{ .Values.blobs.url | quote }}}
{{- if or .Values.blobs.existingSecret .Values.blobs.accessKeyID }}
{{- $secret := default (include "slipway.credentials" .) .Values.blobs.existingSecret }}
{{- range list "AWS_ACCESS_KEY_ID" "AWS_SECRET_ACCESS_KEY" }}
{{ include "slipway.secretEnv" (dict "name" . "secret" $secret "key" .) }}
{{- end }}
{{- end }}
{{- end }}

{{/* Settings of API and worker. */}}
{{- define "slipway.serviceEnv" -}}
{{ include "slipway.databaseEnv" . }}
{{ include "slipway.blobEnv" . }}
{{ include "slipway.temporalEnv" . }}
- {name: SLIPWAY_BASE_URL, value: {{ .Values.baseURL | quote }}}
{{- if .Values.images.enabled }}
- {name: IMAGE_SERVICE_BASE_URL, value: {{ .Values.images.baseURL | quote }}}
{{- end }}
- {name: SLIPWAY_KEY_FILE, value: /run/slipway/keys/keys}
{{- if eq .Values.tls.mode "none" }}
- {name: SLIPWAY_PLAIN_HTTP, value: "true"}
{{- end }}
{{- if include "slipway.caSecret" . }}
- {name: SLIPWAY_SERVICE_CA, value: /run/slipway/ca/{{ .Values.tls.caKey }}}
{{- end }}
{{- end }}

{{- define "slipway.extraEnv" -}}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "slipway.extraEnvFrom" -}}
{{- with .Values.extraEnvFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Volumes. Nothing but /var/lib/slipway and /tmp is written. */}}
{{- define "slipway.commonMounts" -}}
- {name: data, mountPath: /var/lib/slipway}
- {name: tmp, mountPath: /tmp}
- {name: settings, mountPath: /etc/slipway, readOnly: true}
{{- if include "slipway.caSecret" . }}
- {name: ca, mountPath: /run/slipway/ca, readOnly: true}
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "slipway.commonVolumes" -}}
- {name: tmp, emptyDir: {}}
- name: settings
  configMap: {name: {{ include "slipway.fullname" . }}-settings, defaultMode: 0440}
{{- if include "slipway.caSecret" . }}
- name: ca
  secret:
    secretName: {{ include "slipway.caSecret" . }}
    defaultMode: 0444
    items: [{key: {{ .Values.tls.caKey }}, path: {{ .Values.tls.caKey }}}]
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Keys and certificates of API and worker. Files that other users can read are refused. */}}
{{- define "slipway.serviceMounts" -}}
- {name: keys, mountPath: /run/slipway/keys, readOnly: true}
- {name: token-key, mountPath: /var/lib/slipway/token.key, subPath: token.key, readOnly: true}
{{- if .Values.temporal.tls.enabled }}
{{- if .Values.temporal.tls.existingSecret }}
- {name: temporal, mountPath: /run/slipway/temporal, readOnly: true}
{{- end }}
{{- end }}
{{- end }}

{{- define "slipway.serviceVolumes" -}}
- name: keys
  secret:
    secretName: {{ include "slipway.keysSecret" . }}
    defaultMode: 0440
    items: [{key: keys, path: keys}]
- name: token-key
  secret:
    secretName: {{ include "slipway.keysSecret" . }}
    defaultMode: 0440
    items: [{key: token.key, path: token.key}]
{{- if .Values.temporal.tls.enabled }}
{{- with .Values.temporal.tls.existingSecret }}
- name: temporal
  secret: {secretName: {{ . }}, defaultMode: 0440}
{{- end }}
{{- end }}
{{- end }}

{{- define "slipway.tlsEnv" -}}
{{- if ne .Values.tls.mode "none" }}
- {name: HTTPS_CERT_FILE, value: /run/slipway/tls/tls.crt}
- {name: HTTPS_KEY_FILE, value: /run/slipway/tls/tls.key}
{{- end }}
{{- end }}

{{- define "slipway.tlsMounts" -}}
{{- if ne .Values.tls.mode "none" }}
- {name: tls, mountPath: /run/slipway/tls, readOnly: true}
{{- end }}
{{- end }}

{{- define "slipway.tlsVolumes" -}}
{{- if ne .Values.tls.mode "none" }}
- name: tls
  secret:
    secretName: {{ include "slipway.tlsSecret" . }}
    defaultMode: 0440
    items: [{key: tls.crt, path: tls.crt}, {key: tls.key, path: tls.key}]
{{- end }}
{{- end }}
