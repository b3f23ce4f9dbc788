{{- define "dramatis.labels" -}}
app.kubernetes.io/name: dramatis
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "dramatis.selector" -}}
app.kubernetes.io/name: dramatis
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "dramatis.severalNodes" -}}
{{- if or .Values.keda.enabled (gt (int .Values.replicas) 1) }}true{{ end }}
{{- end }}

{{- define "dramatis.workerLabels" -}}
app.kubernetes.io/name: dramatis-worker
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "dramatis.workerSelector" -}}
app.kubernetes.io/name: dramatis-worker
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
