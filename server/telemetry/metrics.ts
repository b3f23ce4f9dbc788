import { Counter, Histogram, Registry } from 'prom-client';
import type { EngineSummary } from '../engines/engines.ts';
import type { ReplyEnd } from '../session/contract/events.ts';
import { latencyComponents, type LatencyComponent } from '../session/contract/turn-timings.ts';
import { processMetrics, type ProcessFacts } from './process-metrics.ts';
import type { Resumed, SessionEnding, Telemetry } from './telemetry.ts';
import type { VoiceSimilarity } from './voice-watch.ts';

export interface Metrics extends Telemetry {
  readonly contentType: string;
  /** Counts a request without a valid key. */
  readonly noteFailedKey: (reason: string) => void;
  /** Counts a conversation or request that was refused, by the code of its error. */
  readonly noteRefusal: (code: string) => void;
  /** Returns all metrics in Prometheus' text format, including those of the process and its event loop. */
  text(): Promise<string>;
}

/** Upper bounds in seconds: fine in the range of normal turns, coarse above it. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2.5, 5, 10];

/** Opens the metrics; labels have few values. `watchesVoices`: voice similarity is measured. */
export function openMetrics({ watchesVoices = false, ...facts }: ProcessFacts & { watchesVoices?: boolean }): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const noteLatency = latencyMetrics(registry, facts.engines());
  const turns = new Counter({
    name: 'dramatis_turns_total',
    help: 'Completed, cancelled and failed replies, by status.',
    labelNames: ['status'],
    registers,
  });
  const bargeIns = new Counter({
    name: 'dramatis_barge_ins_total',
    help: 'Replies that the user interrupted by speaking.',
    registers,
  });
  const violations = new Counter({
    name: 'dramatis_guardrail_violations_total',
    help: 'Sentences of a model that the guardrail blocked, by kind of violation.',
    labelNames: ['kind'],
    registers,
  });
  const errors = new Counter({
    name: 'dramatis_errors_total',
    help: 'Errors sent to clients in conversations, by code (README, “Errors”).',
    labelNames: ['code'],
    registers,
  });
  processMetrics(registry, facts);
  return {
    contentType: registry.contentType,
    ...refusalMetrics(registry),
    ...lifeMetrics(registry),
    note(event) {
      if (event.type === 'reply-ended') {
        const { status, reason, problem } = event.end;
        turns.inc({ status });
        if (reason === 'turn_detected') bargeIns.inc();
        if (problem !== undefined) errors.inc({ code: problem.code });
        for (const kind of event.end.violations ?? []) violations.inc({ kind });
        noteLatency(event.end);
      } else if (event.type === 'problem' || event.type === 'transcript-failed')
        errors.inc({ code: event.problem.code });
      else if (event.type === 'transcript-final' && event.unclear !== undefined)
        errors.inc({ code: event.unclear.code });
    },
    noteVoiceSimilarity: watchesVoices ? similarityMetric(registry) : () => undefined,
    text: () => registry.metrics(),
  };
}

/** Registers the latency histograms, total and by component. Turns without reply audio are skipped. */
function latencyMetrics(registry: Registry, engines: readonly EngineSummary[]): (end: ReplyEnd) => void {
  const registers = [registry];
  const histogramOf = (component: LatencyComponent): Histogram<'engine'> =>
    new Histogram({
      name: `dramatis_${componentNames[component]}_seconds`,
      help: `Share of ${componentNames[component]} in the latency of replies; all shares add up to dramatis_turn_latency_seconds.`,
      labelNames: ['engine'],
      buckets,
      registers,
    });
  const histograms = new Map(latencyComponents.map((component) => [component, histogramOf(component)]));
  const latencySeconds = new Histogram({
    name: 'dramatis_turn_latency_seconds',
    help: 'Latency from the end of speech, or from the request, to the first audio: as played if the client reports it, otherwise as sent.',
    labelNames: ['basis'],
    buckets,
    registers,
  });
  const engineOf = engineNames(engines);
  return (end) => {
    const { basis, first_audio_ms: firstAudioMs, owners: shares, total_ms: totalMs } = end.latency;
    if (firstAudioMs === null) return;
    latencySeconds.observe({ basis }, totalMs / 1000);
    for (const [component, histogram] of histograms) {
      const ms = shares[component];
      if (ms !== null) histogram.observe({ engine: engineOf(component, end) }, ms / 1000);
    }
  };
}

/** Registers what is refused before it begins. */
function refusalMetrics(registry: Registry): Pick<Metrics, 'noteFailedKey' | 'noteRefusal'> {
  const registers = [registry];
  const failedKeys = new Counter({
    name: 'dramatis_failed_keys_total',
    help: 'Requests without a valid key, by reason: missing, wrong, or throttled (too many wrong ones of an address).',
    labelNames: ['reason'],
    registers,
  });
  const refusals = new Counter({
    name: 'dramatis_refusals_total',
    help: 'Conversations and requests that were refused before they began, by code (README, “Errors”).',
    labelNames: ['code'],
    registers,
  });
  // A code that has not occurred counts 0, so that shares of it have a value.
  refusals.inc({ code: 'server_busy' }, 0);
  return {
    noteFailedKey: (reason) => failedKeys.inc({ reason }),
    noteRefusal: (code) => refusals.inc({ code }),
  };
}

/** Registers how sessions continue on another connection, and how they end. */
function lifeMetrics(registry: Registry): Required<Pick<Telemetry, 'noteResume' | 'noteEnd'>> {
  const registers = [registry];
  const resumeSeconds = new Histogram({
    name: 'dramatis_resume_seconds',
    help: 'Time from the request of a client that returns to its session until the session continues, by how: here, or restored from a journal.',
    labelNames: ['how'],
    buckets,
    registers,
  });
  const refused = new Counter({
    name: 'dramatis_resumes_refused_total',
    help: 'Clients whose session could not continue.',
    registers,
  });
  const ended = new Counter({
    name: 'dramatis_sessions_ended_total',
    help: 'Sessions that ended here, by reason: ended (by the client, or after its grace period), moved, session_expired, client_too_slow, or server_stopping.',
    labelNames: ['reason'],
    registers,
  });
  // A reason that has not occurred counts 0, so that shares of it have a value.
  for (const reason of ['ended', 'moved', 'server_stopping'] satisfies SessionEnding[]) ended.inc({ reason }, 0);
  return {
    noteResume({ how, seconds }: Resumed) {
      if (how === 'refused') refused.inc();
      else resumeSeconds.observe({ how }, seconds);
    },
    noteEnd: (reason) => ended.inc({ reason }),
  };
}

/** Registers the voice similarity histogram: a drifting voice shows as a growing share of low values. */
function similarityMetric(registry: Registry): (measured: VoiceSimilarity) => void {
  const histogram = new Histogram({
    name: 'dramatis_voice_similarity',
    help: 'Cosine similarity of the speaker embedding of a reply to that of its reference clip, or of the character’s first reply.',
    labelNames: ['basis'],
    buckets: [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9],
    registers: [registry],
  });
  return ({ similarity, basis }) => histogram.observe({ basis }, similarity);
}

/** Name of each latency component in metrics and spans: the field's term. */
export const componentNames: Readonly<Record<LatencyComponent, string>> = {
  arrival: 'uplink',
  silence: 'endpointing',
  vad: 'vad',
  recognizer: 'asr',
  client: 'client_request',
  mind: 'llm',
  phrase: 'llm_phrase',
  synthesizer: 'tts',
  pacing: 'pacing',
  delivery: 'network',
};

/** Engine stage behind each latency component; the other components are our own time or the client's. */
const stages: Readonly<Partial<Record<LatencyComponent, EngineSummary['stage']>>> = {
  vad: 'vad',
  recognizer: 'recognizer',
  mind: 'mind',
  phrase: 'mind',
  synthesizer: 'synthesizer',
};

/** Returns a function that names the engine behind a latency component of a turn; empty if there is none. */
export function engineNames(engines: readonly EngineSummary[]): (component: LatencyComponent, end: ReplyEnd) => string {
  const names = new Map(engines.map(({ stage, name }) => [stage, name]));
  return (component, { replySource }) => {
    const stage = stages[component];
    if (stage === undefined) return '';
    return (stage === 'mind' ? replySource?.name : undefined) ?? names.get(stage) ?? '';
  };
}
