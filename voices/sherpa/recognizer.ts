import { floatsFromPcm16, concatSamples } from '../audio.ts';
import type { Adapter } from '../calls/context.ts';
import { streamWithTimeouts } from '../calls/process-call.ts';
import { openProcess, type EngineProcess } from '../runtime/process.ts';
import type { CallOptions } from '../engine.ts';
import type { SpeechRecognizer } from '../recognizer.ts';
import { isStreaming, languagesOf, recognizerSettings, type RecognizerSettings } from './recognizer-settings.ts';
import { Queue, untilAborted } from '../runtime/streams.ts';
import { recognizeByPiece } from '../recognition/by-piece.ts';
import { recognizeByStream } from '../recognition/by-stream.ts';
import type { LiveAudio } from '../recognition/live-audio.ts';

/** Start-up data of the process. */
export interface RecognizerProcessData {
  readonly name: string;
  readonly settings: RecognizerSettings;
}

/** Request to the process; samples are at 16 kHz. A `stream` is one utterance of a streaming model. */
export type RecognizerProcessRequest =
  | { readonly kind: 'load' }
  | { readonly kind: 'piece'; readonly samples: Float32Array }
  | { readonly kind: 'block'; readonly stream: number; readonly samples: Float32Array; readonly isLast: boolean }
  | { readonly kind: 'forget'; readonly stream: number };

/** Transcript so far. */
export interface RecognizerProcessReply {
  readonly text: string;
  readonly language?: string;
}

const blockMs = 100;
const pauseMs = 128;

/** Recognizers by sherpa-onnx in their own process; see `recognizerSettings` for the families. */
export const adapter: Adapter<SpeechRecognizer, RecognizerSettings> = {
  settings: recognizerSettings,
  // An utterance of a streaming model lasts as long as the user speaks, and each step costs little.
  callPolicy: (settings) =>
    isStreaming(settings) ? { concurrency: 16, timeouts: { wholeMs: 3_600_000 } } : { concurrency: 2 },
  open(settings, context) {
    const { name } = context;
    const recognizerProcess = openProcess<RecognizerProcessRequest, RecognizerProcessReply>({
      name,
      url: new URL('./recognizer-worker.ts', import.meta.url),
      data: { name, settings } satisfies RecognizerProcessData,
    });
    const languages = languagesOf(settings);
    const warm = async (options: CallOptions): Promise<void> =>
      void (await recognizerProcess.once({ kind: 'load' }, options));
    const recognizer = isStreaming(settings)
      ? recognizeByStream(
          { languages, blockMs, transcribe: (sound, { signal }) => transcribe(recognizerProcess, sound, { signal }) },
          context,
        )
      : recognizeByPiece(
          {
            languages,
            partials: true,
            pauseMs,
            async decode(samples, { signal }) {
              const request = { kind: 'piece', samples } as const;
              const [heard] = await Array.fromAsync(
                streamWithTimeouts(recognizerProcess, { load: { kind: 'load' }, request }, { ...context, signal }),
              );
              return heard ?? { text: '' };
            },
          },
          context,
        );
    return {
      ...recognizer,
      warm,
      async check(options) {
        await warm(options);
        return `${settings.family} is loaded, its weights match their SHA-256`;
      },
      close: () => recognizerProcess.close(),
    };
  },
};

let utterances = 0;

/** Streams one utterance to the process. Blocks that arrive during a decoding step are sent as one. */
async function* transcribe(
  recognizerProcess: EngineProcess<RecognizerProcessRequest, RecognizerProcessReply>,
  sound: LiveAudio,
  { signal }: CallOptions,
): AsyncGenerator<string> {
  const stream = (utterances += 1);
  let waiting: Float32Array[] = [];
  const news = new Queue<void>();
  const unfollow = sound.follow({
    block(bytes) {
      waiting.push(floatsFromPcm16(bytes));
      news.push();
    },
    end: () => news.end(),
  });
  const take = async (isLast: boolean): Promise<string> => {
    const samples = concatSamples(waiting);
    waiting = [];
    return (await recognizerProcess.once({ kind: 'block', stream, samples, isLast }, { signal })).text;
  };
  let isOver = false;
  try {
    for await (const _ of untilAborted(news, { signal })) if (waiting.length > 0) yield await take(false);
    yield await take(true);
    isOver = true;
  } finally {
    unfollow();
    if (!isOver) forget(recognizerProcess, stream);
  }
}

function forget(
  recognizerProcess: EngineProcess<RecognizerProcessRequest, RecognizerProcessReply>,
  stream: number,
): void {
  if (recognizerProcess.processId === undefined) return;
  Array.fromAsync(recognizerProcess.stream({ kind: 'forget', stream }, { signal: new AbortController().signal })).catch(
    () => undefined,
  );
}
