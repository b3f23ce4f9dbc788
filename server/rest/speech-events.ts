import { z } from 'zod';
import { EngineError } from '../../voices/engine.ts';
import type { Problem } from '../session/contract/events.ts';
import { errorObject } from '../session/contract/errors.ts';
import { wireSamplesOf, wireVisemes } from '../realtime/wire-visemes.ts';
import type { SpokenBlock } from '../speech/speak-text.ts';

/** Events that may be sent besides the audio: words, mouth shapes, and sounds in IPA. */
export const speechTimings = z.array(z.enum(['words', 'visemes', 'phones'])).max(3);
export type SpeechTimings = z.infer<typeof speechTimings>;

/** One event of a streamed response. */
type SpeechEvent = Readonly<Record<string, unknown>> & { readonly type: string };

/**
 * Collects the times of blocks as they are read, each before the sound that it belongs to. Positions are samples at 24 kHz
 * of the whole text.
 */
export class TimingEvents {
  readonly #wanted: ReadonlySet<SpeechTimings[number]>;
  #events: SpeechEvent[] = [];
  /** Undefined while only the loudness is known. */
  #until: number | undefined = 0;

  constructor(wanted: SpeechTimings) {
    this.#wanted = new Set(wanted);
  }

  /** True if the mouth shapes are wanted. */
  get tellsMovement(): boolean {
    return this.#wanted.has('visemes') || this.#wanted.has('phones');
  }

  note({ words, mouth }: SpokenBlock): void {
    if (this.#wanted.has('words') && words.length > 0) {
      const told = words.map(({ text, startMs, endMs }) => [wireSamplesOf(startMs), wireSamplesOf(endMs), text]);
      this.#events.push({ type: 'x_dramatis.words', words: told });
    }
    if (!this.tellsMovement) return;
    if (mouth.basis === 'level' && this.#until === undefined) return;
    const told = wireVisemes(mouth, this.#until, this.#wanted.has('phones'));
    this.#until = told.until;
    this.#events.push({ type: 'x_dramatis.visemes', ...told });
  }

  /** Returns the events that were not yet taken. */
  take(): readonly SpeechEvent[] {
    return this.#events.splice(0);
  }
}

/** Writes encoded speech as OpenAI's events (`stream_format: "sse"`), each of them after the times of its sound. */
export async function* speechEvents(
  bytes: AsyncIterable<Buffer>,
  timings: TimingEvents,
  { characters, onFault }: { readonly characters: number; readonly onFault: (fault: unknown) => void },
): AsyncGenerator<string> {
  const line = (event: SpeechEvent): string => `data: ${JSON.stringify(event)}\n\n`;
  try {
    for await (const block of bytes) {
      for (const event of timings.take()) yield line(event);
      yield line({ type: 'speech.audio.delta', audio: block.toString('base64') });
    }
    for (const event of timings.take()) yield line(event);
    // Nothing is counted in tokens here; clients expect the field.
    const usage = { input_tokens: characters, output_tokens: 0, total_tokens: characters };
    yield line({ type: 'speech.audio.done', usage });
  } catch (fault) {
    onFault(fault);
    const problem: Problem =
      fault instanceof EngineError
        ? { code: fault.code, message: fault.detail }
        : { code: 'internal_error', message: 'The speech failed before it was complete.' };
    const { event_id: _unused, ...error } = errorObject(problem);
    yield line({ type: 'error', error });
  }
}
