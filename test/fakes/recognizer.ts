import type { AudioFrame } from '../../voices/audio.ts';
import type { SpeechRecognizer, TranscriptPart } from '../../voices/recognizer.ts';

type Final = Extract<TranscriptPart, { type: 'transcript-final' }>;

/**
 * Returns the lines of the script for the utterances in turn: the first word as a partial at speech start, the whole
 * line at its first pause. An utterance without voiced frames is empty and uses up no line. A scripted error is thrown
 * at the end. `heardMs` records the length of each utterance.
 */
export function fakeRecognizer(script: readonly (string | Omit<Final, 'type'> | Error)[]): SpeechRecognizer & {
  readonly heardMs: number[];
  warm(): Promise<void>;
  close(): Promise<void>;
} {
  let next = 0;
  const heardMs: number[] = [];
  return {
    name: 'fake-recognizer',
    sampleRate: 16_000,
    languages: ['en'],
    heardMs,
    warm: async () => undefined,
    close: async () => undefined,
    async *transcribe(audio: AsyncIterable<AudioFrame>, { signal }) {
      let samples = 0;
      let paused = false;
      let line: (typeof script)[number] | undefined;
      for await (const frame of audio) {
        signal.throwIfAborted();
        samples += frame.samples.length;
        if (line === undefined && frame.voiced !== false) {
          line = script[next % script.length] ?? '';
          next += 1;
          if (typeof line === 'string') yield { type: 'transcript-partial', text: line.split(' ')[0] ?? '' };
        } else if (frame.voiced === false && !paused && typeof line === 'string') {
          // Like a recognizer that decodes ahead: in a pause it has the whole text.
          paused = true;
          yield { type: 'transcript-partial', text: line };
        }
      }
      signal.throwIfAborted();
      heardMs.push(samples / 16);
      if (line instanceof Error) throw line;
      yield { type: 'transcript-final', ...(typeof line === 'object' ? line : { text: line ?? '' }) };
    },
  };
}
