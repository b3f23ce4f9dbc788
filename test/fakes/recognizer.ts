import type { AudioFrame } from '../../voices/audio.ts';
import type { SpeechRecognizer, TranscriptPart } from '../../voices/recognizer.ts';

type Final = Extract<TranscriptPart, { type: 'transcript-final' }>;

/**
 * Says what the script has for each utterance in turn; an utterance without voiced frames is empty, and takes no line of
 * the script. A scripted error is thrown at the end. `heard` keeps how long each utterance was.
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
      let line: (typeof script)[number] | undefined;
      for await (const frame of audio) {
        signal.throwIfAborted();
        samples += frame.samples.length;
        if (frame.voiced === false || line !== undefined) continue;
        line = script[next % script.length] ?? '';
        next += 1;
        if (typeof line === 'string') yield { type: 'transcript-partial', text: line.split(' ')[0] ?? '' };
      }
      signal.throwIfAborted();
      heardMs.push(samples / 16);
      if (line instanceof Error) throw line;
      yield { type: 'transcript-final', ...(typeof line === 'object' ? line : { text: line ?? '' }) };
    },
  };
}
