import type { AudioFrame } from '../../voices/audio.ts';
import type { TurnDetector } from '../../voices/turn-detector.ts';

/**
 * Returns the script's probabilities in turn, repeating the last; an `Error` in it is thrown. `asked` records the
 * texts, `heardMs` the length of the audio of each call.
 */
export function fakeTurnDetector(script: readonly (number | Error)[] = [1]): TurnDetector & {
  readonly asked: (string | undefined)[];
  readonly heardMs: number[];
} {
  const asked: (string | undefined)[] = [];
  const heardMs: number[] = [];
  return {
    name: 'fake-turn-detector',
    asked,
    heardMs,
    async endOfTurnProbability(turn: AudioFrame, { signal, text }) {
      signal.throwIfAborted();
      const answer = script[Math.min(asked.length, script.length - 1)] ?? 1;
      asked.push(text);
      heardMs.push((turn.samples.length / turn.sampleRate) * 1000);
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
}
