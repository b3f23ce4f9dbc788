import type { EngineSummary } from '../engines/engines.ts';
import type { ReplyEnd } from '../session/contract/events.ts';
import type { LatencyComponent } from '../session/contract/turn-timings.ts';

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
