import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { EngineSummary } from '../engines/engines.ts';
import type { ReplyEnd } from '../session/contract/events.ts';
import { latencyComponents } from '../session/contract/latency-breakdown.ts';
import { engineNames } from './engines.ts';
import type { Telemetry } from './telemetry.ts';
import type { VoiceSimilarity } from './voice-watch.ts';

/** Metrics of one server, for Prometheus. */
export interface Metrics extends Telemetry {
  readonly contentType: string;
  /** Returns all metrics in Prometheus' text format, including those of the process and its event loop. */
  text(): Promise<string>;
}

/** Session counts, kept elsewhere. */
interface SessionCounts {
  readonly active: number;
  readonly opened: number;
}

/** Upper bounds in seconds: fine in the range of normal turns, coarse where something has gone wrong. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2.5, 5, 10];

/**
 * Opens the metrics; labels have few values: latency components, engines, statuses, codes. `watchesVoices`: a speaker
 * encoder is available, so voice similarity is measured.
 */
export function openMetrics(
  engines: readonly EngineSummary[],
  sessions: SessionCounts,
  watchesVoices = false,
): Metrics {
  const registry = new Registry();
  const noteWait = waitFigures(registry, engines);
  const registers = [registry];
  const turns = new Counter({
    name: 'dramatis_turns_total',
    help: 'Replies that have ended, by how.',
    labelNames: ['status'],
    registers,
  });
  const bargeIns = new Counter({
    name: 'dramatis_barge_ins_total',
    help: 'Replies that the user has interrupted by speaking.',
    registers,
  });
  const slips = new Counter({
    name: 'dramatis_role_slips_total',
    help: 'Sentences of a model that were kept back because the character would not say them, by what was wrong.',
    labelNames: ['kind'],
    registers,
  });
  const errors = new Counter({
    name: 'dramatis_errors_total',
    help: 'Errors that clients were told of in conversations, by code (README, “Errors”).',
    labelNames: ['code'],
    registers,
  });
  sessionFigures(registry, sessions);
  collectDefaultMetrics({ register: registry });
  return {
    contentType: registry.contentType,
    note(event) {
      if (event.type === 'reply-ended') {
        const { status, reason, problem } = event.end;
        turns.inc({ status });
        if (reason === 'turn_detected') bargeIns.inc();
        if (problem !== undefined) errors.inc({ code: problem.code });
        for (const kind of event.end.slips ?? []) slips.inc({ kind });
        noteWait(event.end);
      } else if (event.type === 'problem' || event.type === 'transcript-failed') {
        errors.inc({ code: event.problem.code });
      } else if (event.type === 'transcript-final' && event.unclear !== undefined) {
        errors.inc({ code: event.unclear.code });
      }
    },
    noteVoiceSimilarity: watchesVoices ? likenessFigure(registry) : () => undefined,
    text: () => registry.metrics(),
  };
}

/** Registers the latency histograms, total and by component. Turns without reply audio are skipped. */
function waitFigures(registry: Registry, engines: readonly EngineSummary[]): (end: ReplyEnd) => void {
  const registers = [registry];
  const ownerSeconds = new Histogram({
    name: 'dramatis_turn_owner_seconds',
    help: 'Part of the wait for a reply, by who was waited for; the parts add up to dramatis_turn_wait_seconds.',
    labelNames: ['owner', 'engine'],
    buckets,
    registers,
  });
  const waitSeconds = new Histogram({
    name: 'dramatis_turn_wait_seconds',
    help: 'From the end of speech (or the request) to the first sound: heard where the client tells, else sent.',
    labelNames: ['basis'],
    buckets,
    registers,
  });
  const engineOf = engineNames(engines);
  return (end) => {
    const { basis, first_audio_ms: firstAudioMs, owners: shares, total_ms: totalMs } = end.latency;
    if (firstAudioMs === null) return;
    waitSeconds.observe({ basis }, totalMs / 1000);
    for (const owner of latencyComponents) {
      const ms = shares[owner];
      if (ms !== null) ownerSeconds.observe({ owner, engine: engineOf(owner, end) }, ms / 1000);
    }
  };
}

/** Registers the voice similarity histogram: a drifting voice shows as a growing share of low values. */
function likenessFigure(registry: Registry): (likeness: VoiceSimilarity) => void {
  const likeness = new Histogram({
    name: 'dramatis_voice_similarity',
    help: 'Cosine of the speaker embedding of a reply to that of its reference clip, or of the character’s first reply.',
    labelNames: ['basis'],
    buckets: [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9],
    registers: [registry],
  });
  return ({ similarity, basis }) => likeness.observe({ basis }, similarity);
}

function sessionFigures(registry: Registry, sessions: SessionCounts): void {
  const registers = [registry];
  const live = new Gauge({
    name: 'dramatis_sessions',
    help: 'Conversations under way.',
    registers,
    collect: (): void => live.set(sessions.active),
  });
  const opened = new Counter({
    name: 'dramatis_sessions_opened_total',
    help: 'Conversations begun since the start.',
    registers,
    collect(): void {
      opened.reset();
      opened.inc(sessions.opened);
    },
  });
}
