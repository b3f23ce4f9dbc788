import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Attributes, type Tracer } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { EngineSummary } from '../engines/engines.ts';
import type { ReplyEnd } from '../session/contract/events.ts';
import { latencyComponents } from '../session/contract/turn-timings.ts';
import { componentNames, engineNames } from './metrics.ts';
import type { SessionFacts, Telemetry } from './telemetry.ts';

/** Timeout of the final flush to a collector. */
const closeTimeoutMs = 3_000;

/** Exporter of turn spans to a collector. */
export interface Tracing extends Telemetry {
  /** Flushes pending spans. */
  close(): Promise<void>;
}

/**
 * Sends a span for every turn, with a child per latency component, to the OTLP/HTTP collector at `endpoint`. Headers,
 * timeouts and attributes come from the standard OpenTelemetry variables (`OTEL_SERVICE_NAME`: `dramatis`). Spans hold
 * nothing of what is said. Without a collector only they are lost.
 */
export function openTracing(endpoint: string, version: string, engines: readonly EngineSummary[]): Tracing {
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, '')}/v1/traces` });
  const own = resourceFromAttributes({ 'service.name': 'dramatis', 'service.version': version });
  const resource = defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [envDetector] }));
  const provider = new TracerProvider({ resource, spanProcessors: [new BatchSpanProcessor({ exporter })] });
  const tracer = provider.getTracer('dramatis', version);
  const engineOf = engineNames(engines);
  return {
    note(event, about) {
      if (event.type === 'reply-ended') writeTurn(tracer, event.replyId, event.end, about, engineOf);
    },
    // Spans that the collector has not taken by then are dropped: the server has to stop.
    close: () =>
      Promise.race([provider.shutdown().catch(() => undefined), sleep(closeTimeoutMs, undefined, { ref: false })]),
  };
}

/** Writes the span of a turn that ends now, starting at the end of speech or at the request. */
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
  for (const component of latencyComponents) {
    const ms = end.latency.owners[component];
    if (ms === null) continue;
    const engine = engineOf(component, end);
    const engineAttribute = engine === '' ? {} : { 'dramatis.engine': engine };
    tracer
      .startSpan(componentNames[component], { startTime: reachedMs, attributes: engineAttribute }, inside)
      .end(reachedMs + ms);
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
    'dramatis.latency_ms': end.latency.total_ms,
    'dramatis.audio_ms': Math.round(end.usage.audioMs),
    'gen_ai.usage.input_tokens': end.usage.inputTokens,
    'gen_ai.usage.output_tokens': end.usage.outputTokens,
    ...(end.reason === undefined ? {} : { 'dramatis.reason': end.reason }),
    ...(end.replySource === undefined ? {} : { 'dramatis.reply_source': end.replySource.name }),
  };
}
