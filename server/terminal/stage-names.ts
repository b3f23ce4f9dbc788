import type { EngineSummary } from '../engines/engines.ts';
import type { LatencyComponent } from '../session/contract/turn-timings.ts';

export const stageNames: Readonly<Record<EngineSummary['stage'], string>> = {
  vad: 'VAD',
  turns: 'turn detector',
  recognizer: 'ASR',
  omni: 'omni',
  mind: 'LLM',
  synthesizer: 'TTS',
};

export const latencyComponentNames: Readonly<Record<LatencyComponent, string>> = {
  arrival: 'uplink',
  silence: 'endpointing',
  vad: 'VAD',
  recognizer: 'ASR',
  client: 'reply request',
  mind: 'LLM',
  phrase: 'first phrase',
  synthesizer: 'TTS',
  pacing: 'pacing',
  delivery: 'playout',
};

/** Formats the engines of a server in one line. */
export function engineList(engines: readonly EngineSummary[]): string {
  return engines.map(({ stage, name }) => `${stageNames[stage]} ${name}`).join(', ');
}
