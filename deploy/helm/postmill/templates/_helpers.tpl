{{/* Names, labels, and what all containers have in common. */}}

{{- define "postmill.name" -}}
{{- .Release.Name | trunc 30 | trimSuffix "-" -}}
{{- end -}}

{{- define "postmill.selector" -}}
app.kubernetes.io/name: postmill
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "postmill.labels" -}}
{{ include "postmill.selector" . }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{- define "postmill.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{/* What a pod may not do. The tests' `restricted` standard of Kubernetes. */}}
{{- define "postmill.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "postmill.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* The environment; `key` of the database's secret. */}}
{{- define "postmill.env" -}}
- name: POSTMILL_DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ .root.Values.database.secret }}
      key: {{ .key }}
{{- with .root.Values.database.listenKey }}
- name: POSTMILL_LISTEN_URL
  valueFrom:
    secretKeyRef:
      name: {{ $.root.Values.database.secret }}
      key: {{ . }}
{{- end }}
{{- with .root.Values.env }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The rest of a pod's specification, once the containers are there. */}}
{{- define "postmill.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  {{- include "postmill.podSecurity" . | nindent 2 }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* What the processes of a pod write to and read from besides the database. */}}
{{- define "postmill.volumes" -}}
- name: tmp
  emptyDir: {}
- name: settings
  configMap:
    name: {{ include "postmill.name" . }}-settings
{{- end -}}

{{- define "postmill.mounts" -}}
- name: tmp
  mountPath: /tmp
- name: settings
  mountPath: /etc/postmill
  readOnly: true
{{- end -}}

{{- define "postmill.spread" -}}
{{- if .root.Values.topologySpread }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "postmill.selector" .root | nindent 8 }}
        app.kubernetes.io/component: {{ .component }}
{{- end }}
{{- end -}}

{{- define "postmill.serverUrl" -}}
{{- .Values.keda.serverUrl | default (printf "http://%s-server.%s.svc:%v" (include "postmill.name" .) .Release.Namespace .Values.server.service.port) -}}
{{- end -}}
