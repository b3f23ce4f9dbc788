import { z } from 'zod';
import { baseUrlSchema, bearer } from '../calls/base-url.ts';
import type { Meter } from '../calls/calls.ts';
import type { Adapter, EngineContext } from '../calls/context.ts';
import { openDeadline } from '../calls/deadline.ts';
import { badReply, brokenOff, readJson } from '../calls/http-faults.ts';
import { openSocket } from '../calls/socket.ts';
import type { CallOptions } from '../engine.ts';
import { languageTags } from '../text/language-tags.ts';
import type { SpeechRecognizer } from '../recognizer.ts';
import { recognizeByStream } from '../recognition/by-stream.ts';
import { openFunasrText } from './funasr-text.ts';
import type { LiveAudio } from '../recognition/live-audio.ts';

const settings = z.strictObject({
  /** Such as `ws://127.0.0.1:10095`; `wss:` if the server has a certificate that Node trusts. */
  baseUrl: baseUrlSchema,
  /** `2pass` shows words early and corrects them at the end; `online` is only the first pass, `offline` the second. */
  mode: z.enum(['2pass', 'online', 'offline']).default('2pass'),
  /** Languages that the model understands. */
  languages: languageTags.default(['zh', 'en']),
  /** Hotwords: a string for the Python server, or words with their weights for the C++ server. */
  hotwords: z.union([z.string().min(1), z.record(z.string(), z.number())]).optional(),
  /** Wait for more after a result that may be the last, in milliseconds: not every server marks the last one. */
  settleMs: z.number().int().min(0).max(5_000).default(300),
  /** Additional fields of the first message, such as `{"svs_lang": "zh"}`. */
  extra: z.record(z.string(), z.unknown()).default({}),
});

export type FunasrSettings = z.infer<typeof settings>;

/** Block parameters of the server; a block is 60 ms times the step, divided by `chunk_interval`. */
const chunks = { chunk_size: [5, 10, 5], chunk_interval: 10, encoder_chunk_look_back: 4, decoder_chunk_look_back: 1 };
const blockMs = (60 * 10) / chunks.chunk_interval;

/** FunASR's own WebSocket server, in Python or C++. */
export const adapter: Adapter<SpeechRecognizer, FunasrSettings> = {
  settings,
  // An utterance lasts as long as the user speaks.
  callPolicy: () => ({ concurrency: 8, timeouts: { wholeMs: 3_600_000 } }),
  open: (chosen, context) => ({
    ...recognizeByStream(
      {
        languages: chosen.languages,
        blockMs,
        transcribe: (sound, options) => transcribe(sound, chosen, context, options),
      },
      context,
    ),
    async check(options: CallOptions) {
      const socket = await openSocket(context, requestTo(chosen, context), options);
      socket.close();
      return `${new URL(chosen.baseUrl).host} accepts connections`;
    },
  }),
};

async function* transcribe(
  sound: LiveAudio,
  chosen: FunasrSettings,
  context: EngineContext,
  { signal }: CallOptions & { readonly meter: Meter },
): AsyncGenerator<string> {
  const { firstByteMs, betweenBytesMs } = context.timeouts;
  const deadline = openDeadline(context.name);
  const socket = await openSocket(context, requestTo(chosen, context), {
    signal: AbortSignal.any([signal, deadline.signal]),
  });
  const text = openFunasrText(chosen.mode);
  socket.send(JSON.stringify(beginning(chosen)));
  const unfollow = sound.follow({
    block: (bytes) => socket.send(bytes),
    end() {
      socket.send('{"is_speaking":false,"is_end":true}');
      text.end();
      deadline.expect(firstByteMs);
    },
  });
  try {
    while (text.state !== 'over') {
      const message = await (text.state === 'maybe-over' ? soon(socket.receive(), chosen.settleMs) : socket.receive());
      if (message === 'silence') return;
      if (message === undefined) throw brokenOff(context);
      if (Buffer.isBuffer(message)) throw badReply(context, 'binary data instead of text');
      const result = readJson(message, resultSchema, context, 'a message that is not a FunASR result');
      // The C++ server reports an error as text without a mode.
      if (result.mode === undefined && result.text !== '') throw badReply(context, 'an error instead of a transcript');
      text.take(result);
      if (text.state === 'maybe-over') deadline.clear();
      else if (text.hasEnded) deadline.expect(betweenBytesMs);
      yield text.text;
    }
  } finally {
    deadline.clear();
    unfollow();
    socket.close();
  }
}

/** Returns the message, or `silence` if it takes longer than `ms`. */
async function soon<Message>(message: Promise<Message>, ms: number): Promise<Message | 'silence'> {
  const over = Promise.withResolvers<'silence'>();
  const timer = setTimeout(() => over.resolve('silence'), ms);
  try {
    return await Promise.race([message, over.promise]);
  } finally {
    clearTimeout(timer);
    // Prevents an unhandled rejection of the abandoned message.
    message.catch(() => undefined);
  }
}

function requestTo({ baseUrl }: FunasrSettings, { key }: EngineContext) {
  return { url: baseUrl, headers: bearer(key), protocols: ['binary'] };
}

function beginning({ mode, hotwords, extra }: FunasrSettings): object {
  return {
    mode,
    ...chunks,
    wav_name: 'utterance',
    wav_format: 'pcm',
    audio_fs: 16_000,
    is_speaking: true,
    itn: true,
    ...(hotwords === undefined ? {} : { hotwords: typeof hotwords === 'string' ? hotwords : JSON.stringify(hotwords) }),
    ...extra,
  };
}

/** The C++ server leaves `mode` out of a message without words; its last message may be one. */
const resultSchema = z.object({
  mode: z.enum(['2pass-online', '2pass-offline', 'online', 'offline', '2pass']).optional(),
  text: z.string().default(''),
  /** Only the Python server names a speaker. */
  spk_name: z.string().optional(),
  is_final: z.boolean().optional(),
  is_end: z.boolean().optional(),
});
