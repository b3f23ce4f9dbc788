import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { EngineSummary } from '../engines/engines.ts';
import type { ReplyEnd } from '../session/contract/events.ts';
import { latencyComponents, type LatencyComponent } from '../session/contract/turn-timings.ts';
import type { Telemetry } from './telemetry.ts';
import type { VoiceSimilarity } from './voice-watch.ts';

export interface Metrics extends Telemetry {
  readonly contentType: string;
  /** Counts a request without a valid key. */
  noteFailedKey(reason: string): void;
  /** Returns all metrics in Prometheus' text format, including those of the process and its event loop. */
  text(): Promise<string>;
}

/** Metrics of a server that is one of several nodes. */
export interface NodeCounts {
  /** Sessions whose latest events are in this process alone. */
  readonly unkept: number;
  /** Sessions that ended here because another node had taken them over. */
  readonly fenced: number;
  /** Sockets that are passed on to other nodes. */
  readonly relayed: number;
  /** Clients that came back to their sessions, by how. */
  readonly resumes: Readonly<Record<string, number>>;
}

interface SessionCounts {
  readonly active: number;
  readonly opened: number;
  readonly most: number;
}

/** Upper bounds in seconds: fine in the range of normal turns, coarse above it. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2.5, 5, 10];

/** Opens the metrics; labels have few values. `watchesVoices`: voice similarity is measured; `node`: one of several. */
export function openMetrics(
  engines: readonly EngineSummary[],
  sessions: SessionCounts,
  watchesVoices = false,
  node?: NodeCounts,
  memories?: MemoryCounts,
): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const noteLatency = latencyMetrics(registry, engines);
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
  const failedKeys = new Counter({
    name: 'dramatis_failed_keys_total',
    help: 'Requests without a valid key, by reason: missing, wrong, or throttled (too many wrong ones of an address).',
    labelNames: ['reason'],
    registers,
  });
  processMetrics(registry, sessions, node, memories);
  return {
    contentType: registry.contentType,
    noteFailedKey: (reason) => failedKeys.inc({ reason }),
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

/** Registers what the process itself tells: its sessions, its memory and event loop, and its part among the nodes. */
function processMetrics(
  registry: Registry,
  sessions: SessionCounts,
  node: NodeCounts | undefined,
  memories: MemoryCounts | undefined,
): void {
  if (memories !== undefined) memoryMetrics(registry, memories);
  collectDefaultMetrics({ register: registry });
  if (node !== undefined) nodeMetrics(registry, node);
  const registers = [registry];
  const live = new Gauge({
    name: 'dramatis_sessions',
    help: 'Open sessions.',
    registers,
    collect: (): void => live.set(sessions.active),
  });
  const most = new Gauge({
    name: 'dramatis_sessions_max',
    help: 'Most open sessions (DRAMATIS_MAX_SESSIONS).',
    registers,
    collect: (): void => most.set(sessions.most),
  });
  const opened = new Counter({
    name: 'dramatis_sessions_opened_total',
    help: 'Sessions opened since the server started.',
    registers,
    collect(): void {
      opened.reset();
      opened.inc(sessions.opened);
    },
  });
}

function nodeMetrics(registry: Registry, node: NodeCounts): void {
  const registers = [registry];
  const unkept = new Gauge({
    name: 'dramatis_sessions_unkept',
    help: 'Open sessions whose latest events Redis does not have: they would be lost with this node.',
    registers,
    collect: (): void => unkept.set(node.unkept),
  });
  const relayed = new Gauge({
    name: 'dramatis_relayed_sockets',
    help: 'Sockets that this node passes on to the nodes that have their sessions.',
    registers,
    collect: (): void => relayed.set(node.relayed),
  });
  const fenced = new Counter({
    name: 'dramatis_fenced_total',
    help: 'Sessions that ended here in silence because another node had taken them over.',
    registers,
    collect(): void {
      fenced.reset();
      fenced.inc(node.fenced);
    },
  });
  const resumes = new Counter({
    name: 'dramatis_resumes_total',
    help: 'Clients that are back in their sessions, by how: here, relayed (to another node) or claimed (from Redis).',
    labelNames: ['how'],
    registers,
    collect(): void {
      resumes.reset();
      for (const [how, count] of Object.entries(node.resumes)) resumes.inc({ how }, count);
    },
  });
}

/** What the metrics tell of the memories. */
interface MemoryCounts {
  readonly state: string;
  readonly unkept: number;
}

function memoryMetrics(registry: Registry, memories: MemoryCounts): void {
  const registers = [registry];
  const unkept = new Gauge({
    name: 'dramatis_memory_turns_unkept',
    help: 'Turns that the memory database does not have yet: they would be lost with this server.',
    registers,
    collect: (): void => unkept.set(memories.unkept),
  });
  const up = new Gauge({
    name: 'dramatis_memory_up',
    help: '1 if the memory database answers, else 0.',
    registers,
    collect: (): void => up.set(memories.state === 'on' ? 1 : 0),
  });
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
