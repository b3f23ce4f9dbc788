import { pcm16FromFloats, Rechunker, type AudioFrame, checkRate } from '../audio.ts';
import type { Meter } from '../calls/calls.ts';
import type { EngineContext } from '../calls/context.ts';
import type { CallOptions } from '../engine.ts';
import type { SpeechRecognizer } from '../recognizer.ts';
import { untilAborted } from '../runtime/streams.ts';
import { readGrowingText, readModelText } from './model-text.ts';
import { RetainedAudio, type LiveAudio } from './live-audio.ts';

/** Engine that decodes during speech, over one connection per utterance. */
export interface StreamDecoder {
  /** BCP 47 primary tags. */
  readonly languages: readonly string[];
  /** Length of the blocks it takes, in milliseconds. */
  readonly blockMs: number;
  /** Decodes one utterance at 16 kHz; yields the whole text so far when it changes, up to the server's last result. */
  transcribe(
    sound: LiveAudio,
    options: CallOptions & { readonly language?: string | undefined; readonly meter: Meter },
  ): AsyncIterable<string>;
}

const sampleRate = 16_000;
/** Pre-roll: frames kept from before the VAD detects speech, and sent along. */
const leadFrames = 12;

/**
 * Makes a recognizer from a streaming engine. It connects at the first voiced frame, so that silence costs nothing and
 * the connection is open before the speech ends. Until the first result the audio is kept, to be sent again if the
 * connection fails.
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
        const recording = new RetainedAudio();
        const heard = { samples: 0 };
        // A source that fails aborts the call with its own error, which is not the engine's fault.
        record(lead, frames, { recording, blockMs: decoder.blockMs, heard }).catch((cause: unknown) =>
          gone.abort(cause),
        );
        const hypotheses = calls.stream(
          (call) => metered(decoder.transcribe(recording, { ...call, language }), call.meter, heard),
          { signal: both },
        );
        let written = '';
        let shown = '';
        for await (written of hypotheses) {
          recording.forget();
          const known = readGrowingText(written);
          if (known === shown) continue;
          shown = known;
          yield { type: 'transcript-partial', text: known };
        }
        const { text, language: stated = language } = readModelText(written);
        yield { type: 'transcript-final', text, ...(stated === undefined || text === '' ? {} : { language: stated }) };
      } finally {
        gone.abort(new Error('the caller stopped reading'));
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

/** Returns the first frame that is not known to be silence, after its pre-roll; undefined if there is none. */
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

/** Amount of audio received. */
interface ReceivedAudio {
  samples: number;
}

interface Target {
  readonly recording: RetainedAudio;
  readonly blockMs: number;
  readonly heard: ReceivedAudio;
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

async function* metered(texts: AsyncIterable<string>, meter: Meter, heard: ReceivedAudio): AsyncGenerator<string> {
  try {
    yield* texts;
  } finally {
    meter.audioSeconds = heard.samples / sampleRate;
  }
}
