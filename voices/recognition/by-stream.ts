import { pcm16FromFloats, Rechunker, type AudioFrame } from '../audio.ts';
import type { Meter } from '../calls/calls.ts';
import type { EngineContext } from '../calls/context.ts';
import type { CallOptions } from '../engine.ts';
import type { SpeechRecognizer } from '../recognizer.ts';
import { untilAborted } from '../runtime/until-aborted.ts';
import { checkRate } from './check-rate.ts';
import { Recording, type LiveSound } from './live-sound.ts';

/** An engine that hears while somebody speaks, over one connection for each utterance. */
export interface StreamDecoder {
  /** BCP 47 primary tags. */
  readonly languages: readonly string[];
  /** How much sound it wants at a time, in milliseconds. */
  readonly blockMs: number;
  /** One utterance at 16 kHz: the whole text so far, as often as it changes. Ends when the server has said all it will. */
  hear(
    sound: LiveSound,
    options: CallOptions & { readonly language?: string | undefined; readonly meter: Meter },
  ): AsyncIterable<string>;
}

const sampleRate = 16_000;
/** Heard before the VAD was sure, and sent along. */
const leadFrames = 12;

/**
 * A recognizer out of a stream: connects with the first voice, so that silence costs nothing and the connection stands when the
 * words are over. As long as nothing was understood the utterance is kept, and sent again where the connection fails.
 */
export function recognizeByStream(decoder: StreamDecoder, { name, calls }: EngineContext): SpeechRecognizer {
  return {
    name,
    sampleRate,
    languages: decoder.languages,
    async *transcribe(audio, { signal, language }) {
      signal.throwIfAborted();
      const gone = new AbortController();
      const both = AbortSignal.any([signal, gone.signal]);
      const frames = untilAborted(checked(audio, name), { signal: both });
      try {
        const lead = await untilVoice(frames);
        if (lead === undefined) {
          yield { type: 'transcript-final', text: '' };
          return;
        }
        const recording = new Recording();
        const heard = { samples: 0 };
        // A source that fails ends the call with its own failure, which is no fault of the engine's.
        record(lead, frames, { recording, blockMs: decoder.blockMs, heard }).catch((cause: unknown) =>
          gone.abort(cause),
        );
        const hearing = calls.stream(
          (call) => metered(decoder.hear(recording, { ...call, language }), call.meter, heard),
          { signal: both },
        );
        let text = '';
        for await (const known of hearing) {
          recording.forget();
          if (known === text) continue;
          text = known;
          yield { type: 'transcript-partial', text };
        }
        yield { type: 'transcript-final', text, ...(language === undefined || text === '' ? {} : { language }) };
      } finally {
        gone.abort(new Error('nobody listens any more'));
      }
    },
  };
}

async function* checked(audio: AsyncIterable<AudioFrame>, name: string): AsyncGenerator<AudioFrame> {
  for await (const frame of audio) {
    checkRate(frame, sampleRate, name);
    yield frame;
  }
}

/** The frames up to the first that is not known to be silence; undefined where there is none. */
async function untilVoice(frames: AsyncGenerator<AudioFrame>): Promise<readonly AudioFrame[] | undefined> {
  const lead: AudioFrame[] = [];
  for (;;) {
    const next = await frames.next();
    if (next.done === true) return undefined;
    lead.push(next.value);
    if (next.value.voiced !== false) return lead;
    if (lead.length > leadFrames) lead.shift();
  }
}

/** How much has been heard. */
interface Heard {
  samples: number;
}

interface Target {
  readonly recording: Recording;
  readonly blockMs: number;
  readonly heard: Heard;
}

async function record(
  lead: readonly AudioFrame[],
  frames: AsyncGenerator<AudioFrame>,
  { recording, blockMs, heard }: Target,
): Promise<void> {
  const rechunker = new Rechunker((sampleRate / 1000) * blockMs);
  const take = ({ samples }: AudioFrame): void => {
    heard.samples += samples.length;
    for (const block of rechunker.push(samples)) recording.push(pcm16FromFloats(block));
  };
  for (const frame of lead) take(frame);
  for await (const frame of frames) take(frame);
  const rest = rechunker.flush();
  if (rest.length > 0) recording.push(pcm16FromFloats(rest));
  recording.end();
}

async function* metered(texts: AsyncIterable<string>, meter: Meter, heard: Heard): AsyncGenerator<string> {
  try {
    yield* texts;
  } finally {
    meter.audioSeconds = heard.samples / sampleRate;
  }
}
