import type { EngineSummary } from '../engines/engines.ts';
import type { ReplyEnd } from '../session/contract/events.ts';
import type { Owner } from '../session/contract/latency-breakdown.ts';

/** Which engine's work an owner's time is; of the others, it is our own or the client's. */
const stages: Readonly<Partial<Record<Owner, EngineSummary['stage']>>> = {
  vad: 'vad',
  recognizer: 'recognizer',
  mind: 'mind',
  phrase: 'mind',
  synthesizer: 'synthesizer',
};

/** Names the engine that an owner's time in a turn was spent on; empty where it was none. */
export function engineNames(engines: readonly EngineSummary[]): (owner: Owner, end: ReplyEnd) => string {
  const names = new Map(engines.map(({ stage, name }) => [stage, name]));
  return (owner, { mind }) => {
    const stage = stages[owner];
    if (stage === undefined) return '';
    return (stage === 'mind' ? mind?.name : undefined) ?? names.get(stage) ?? '';
  };
}
