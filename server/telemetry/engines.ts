import type { EngineSummary } from '../engines/engines.ts';
import type { ReplyEnd } from '../session/contract/events.ts';
import type { LatencyComponent } from '../session/contract/latency-breakdown.ts';

/** Engine stage behind each latency component; the other components are our own time or the client's. */
const stages: Readonly<Partial<Record<LatencyComponent, EngineSummary['stage']>>> = {
  vad: 'vad',
  recognizer: 'recognizer',
  mind: 'mind',
  phrase: 'mind',
  synthesizer: 'synthesizer',
};

/** Returns a function that names the engine behind a latency component of a turn; empty if there is none. */
export function engineNames(engines: readonly EngineSummary[]): (owner: LatencyComponent, end: ReplyEnd) => string {
  const names = new Map(engines.map(({ stage, name }) => [stage, name]));
  return (owner, { mind }) => {
    const stage = stages[owner];
    if (stage === undefined) return '';
    return (stage === 'mind' ? mind?.name : undefined) ?? names.get(stage) ?? '';
  };
}
