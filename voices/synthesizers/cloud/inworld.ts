import { z } from 'zod';
import { addressOf, baseUrlSchema } from '../../calls/base-url.ts';
import type { Adapter, EngineContext } from '../../calls/context.ts';
import { badReply, readJson, reportedFault } from '../../calls/http-faults.ts';
import { send, sendForJson } from '../../calls/http.ts';
import { pcmBlocksOfMessages, type PcmBlock, type PlacedTimes } from '../../calls/pcm-stream.ts';
import { linesOf } from '../../calls/sse.ts';
import type { CallOptions } from '../../engine.ts';
import { speakByPhrase, spokenSampleRate, type RenderOptions } from '../../synthesis/by-phrase.ts';
import { missingVoice, openKnownVoices } from '../../synthesis/known-voices.ts';
import type { SpeechSynthesizer } from '../../synthesizer.ts';
import { languageTags } from '../../text/language-tags.ts';

const settings = z.strictObject({
  baseUrl: baseUrlSchema.default('https://api.inworld.ai'),
  model: z.string().min(1).default('inworld-tts-1.5-max'),
  /** Voice used if the account lacks the requested one: of the list, or cloned. */
  defaultVoice: z.string().min(1).default('Dennis'),
  languages: languageTags.default('en zh ja ko ru it es pt fr de pl nl hi he ar'.split(' ')),
  /** Additional request fields, such as `{"temperature": 1.1}`. */
  extra: z.record(z.string(), z.unknown()).default({}),
});

export type InworldSettings = z.infer<typeof settings>;

/** Inworld TTS, which streams JSON lines: audio with the words and the sounds in it. */
export const adapter: Adapter<SpeechSynthesizer, InworldSettings> = {
  settings,
  callPolicy: () => ({ concurrency: 8 }),
  open(chosen, context) {
    const voices = openKnownVoices(chosen.defaultVoice, ({ status = 0 }) => status === 400 || status === 404);
    const renderer = {
      languages: chosen.languages,
      maxCharacters: 2_000,
      comesWhole: false,
      times: 'sounds' as const,
      render: (text: string, options: RenderOptions) =>
        voices.speak(options.voice, (voice) => say(text, voice, { chosen, context }, options)),
    };
    return {
      ...speakByPhrase(renderer, context),
      check: (options: CallOptions) => check({ chosen, context }, options),
    };
  },
};

interface Site {
  readonly chosen: InworldSettings;
  readonly context: EngineContext;
}

async function* say(
  text: string,
  voice: string,
  { chosen, context }: Site,
  { signal, speed }: RenderOptions,
): AsyncGenerator<PcmBlock> {
  const speakingRate = Math.min(1.5, Math.max(0.5, speed));
  const json = {
    text,
    voiceId: voice,
    modelId: chosen.model,
    audioConfig: { audioEncoding: 'LINEAR16', sampleRateHertz: spokenSampleRate, speakingRate },
    timestampType: 'WORD',
    ...chosen.extra,
  };
  const url = addressOf(chosen.baseUrl, '/tts/v1/voice:stream');
  const { body } = await send(context, { url, json, headers: authorization(context) }, { signal });
  yield* pcmBlocksOfMessages(messagesOf(body, context), { sampleRate: spokenSampleRate });
}

/** The key is Basic credentials as the portal shows them, encoded already. */
function authorization({ key }: EngineContext): Readonly<Record<string, string>> {
  return key === undefined ? {} : { authorization: `Basic ${key}` };
}

const alignmentSchema = z.object({
  words: z.array(z.string()).default([]),
  wordStartTimeSeconds: z.array(z.number()).default([]),
  wordEndTimeSeconds: z.array(z.number()).default([]),
  phoneticDetails: z
    .array(
      z.object({
        phones: z.array(
          z.object({ phoneSymbol: z.string(), startTimeSeconds: z.number().default(0), durationSeconds: z.number() }),
        ),
      }),
    )
    .default([]),
});

const lineSchema = z.object({
  result: z
    .object({
      audioContent: z.string().default(''),
      timestampInfo: z.object({ wordAlignment: alignmentSchema.nullish() }).nullish(),
    })
    .optional(),
  error: z.object({ code: z.number().optional() }).optional(),
});

/** HTTP statuses of the gRPC codes in its stream; any other is a failure of the server. */
const statuses: Readonly<Record<number, number>> = { 3: 400, 4: 408, 5: 404, 7: 403, 8: 429, 14: 503, 16: 401 };

async function* messagesOf(body: AsyncIterable<Buffer>, context: EngineContext): AsyncGenerator<Buffer | PlacedTimes> {
  for await (const line of linesOf(body)) {
    if (line.trim() === '') continue;
    const { result, error } = readJson(line, lineSchema, context, 'a line that is no part of its speech');
    if (error !== undefined) throw reportedFault(context, statuses[error.code ?? 0] ?? 500);
    if (result === undefined) throw badReply(context, 'a line without a result');
    const alignment = result.timestampInfo?.wordAlignment;
    if (alignment !== undefined && alignment !== null) yield timesOf(alignment);
    if (result.audioContent !== '') yield Buffer.from(result.audioContent, 'base64');
  }
}

/** Spaces and marks are words of their own there, with a silence for a sound. */
function timesOf(alignment: z.infer<typeof alignmentSchema>): PlacedTimes {
  const { words, wordStartTimeSeconds: starts, wordEndTimeSeconds: ends } = alignment;
  const told = words.map((text, index) => {
    const startMs = (starts[index] ?? 0) * 1000;
    return { text, startMs, endMs: Math.max(startMs, (ends[index] ?? 0) * 1000) };
  });
  const sounds = alignment.phoneticDetails
    .flatMap(({ phones }) => phones)
    .map(({ phoneSymbol, startTimeSeconds, durationSeconds }) => ({
      sound: phoneSymbol === '[silence]' ? '' : phoneSymbol,
      startMs: startTimeSeconds * 1000,
      endMs: (startTimeSeconds + durationSeconds) * 1000,
    }));
  return { told, sounds };
}

const voicesSchema = z.object({ voices: z.array(z.object({ voiceId: z.string() })) });

/** Checks that the server accepts the key, and that the account has the default voice. */
async function check({ chosen, context }: Site, options: CallOptions): Promise<string> {
  const request = { url: addressOf(chosen.baseUrl, '/tts/v1/voices'), headers: authorization(context) };
  const listed = voicesSchema.safeParse(await sendForJson(context, request, options));
  if (!listed.success) throw badReply(context, 'no list of its voices');
  const { host } = new URL(chosen.baseUrl);
  const { voices } = listed.data;
  if (voices.some(({ voiceId }) => voiceId === chosen.defaultVoice))
    return `${host} accepts the key, and has the voice “${chosen.defaultVoice}”`;
  throw missingVoice(context.name, chosen.defaultVoice);
}
