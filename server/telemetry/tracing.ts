import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Attributes, type Tracer } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { EngineSummary } from '../engines/engines.ts';
import type { ReplyEnd } from '../session/contract/events.ts';
import { owners } from '../session/contract/latency-breakdown.ts';
import { engineNames } from './engines.ts';
import type { SessionFacts, Telemetry } from './telemetry.ts';

/** How long a collector may take at the end. */
const closeTimeoutMs = 3_000;

/** Spans of turns on their way to a collector. */
export interface Tracing extends Telemetry {
  /** Sends what is waiting. */
  close(): Promise<void>;
}

/**
 * Sends a span for every turn, with a child for each owner of its wait, to the OTLP/HTTP collector at `endpoint`. Headers,
 * timeouts and resource attributes come from the environment, as OpenTelemetry names them; the service is `dramatis` unless
 * `OTEL_SERVICE_NAME` says otherwise. Nothing of what is said goes into a span. A collector that is away costs nothing but
 * the spans.
 */
export function openTracing(endpoint: string, version: string, engines: readonly EngineSummary[]): Tracing {
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, '')}/v1/traces` });
  const ours = resourceFromAttributes({ 'service.name': 'dramatis', 'service.version': version });
  const resource = defaultResource()
    .merge(ours)
    .merge(detectResources({ detectors: [envDetector] }));
  const provider = new TracerProvider({ resource, spanProcessors: [new BatchSpanProcessor({ exporter })] });
  const tracer = provider.getTracer('dramatis', version);
  const engineOf = engineNames(engines);
  return {
    note(event, about) {
      if (event.type === 'reply-ended') writeTurn(tracer, event.replyId, event.end, about, engineOf);
    },
    // What a collector does not take by then is lost: the server is to stop.
    close: () =>
      Promise.race([provider.shutdown().catch(() => undefined), sleep(closeTimeoutMs, undefined, { ref: false })]),
  };
}

/** A turn that ends now: a span from the end of speech, or the request, on. */
function writeTurn(
  tracer: Tracer,
  replyId: string,
  end: ReplyEnd,
  about: SessionFacts,
  engineOf: ReturnType<typeof engineNames>,
): void {
  const endMs = Date.now();
  const startMs = endMs - end.tookMs;
  const attributes = attributesOf(replyId, end, about);
  const turn = tracer.startSpan('turn', { kind: SpanKind.SERVER, startTime: startMs, attributes }, ROOT_CONTEXT);
  const inside = trace.setSpan(ROOT_CONTEXT, turn);
  let reachedMs = startMs;
  for (const owner of owners) {
    const ms = end.latency.owners[owner];
    if (ms === null) continue;
    const engine = engineOf(owner, end);
    const own = engine === '' ? {} : { 'dramatis.engine': engine };
    tracer.startSpan(owner, { startTime: reachedMs, attributes: own }, inside).end(reachedMs + ms);
    reachedMs += ms;
  }
  if (end.problem !== undefined) turn.setStatus({ code: SpanStatusCode.ERROR, message: end.problem.code });
  turn.end(endMs);
}

function attributesOf(replyId: string, end: ReplyEnd, about: SessionFacts): Attributes {
  return {
    'dramatis.session': about.session,
    'dramatis.character': about.character,
    'dramatis.response': replyId,
    'dramatis.status': end.status,
    'dramatis.basis': end.latency.basis,
    'dramatis.wait_ms': end.latency.total_ms,
    'dramatis.audio_ms': Math.round(end.usage.audioMs),
    'gen_ai.usage.input_tokens': end.usage.inputTokens,
    'gen_ai.usage.output_tokens': end.usage.outputTokens,
    ...(end.reason === undefined ? {} : { 'dramatis.reason': end.reason }),
    ...(end.mind === undefined ? {} : { 'dramatis.mind': end.mind.name }),
  };
}
