import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { addressOf, baseUrlSchema } from '../../calls/base-url.ts';
import type { Adapter, EngineContext } from '../../calls/context.ts';
import { badReply } from '../../calls/http-faults.ts';
import { sendForJson } from '../../calls/http.ts';
import { pcmBlocksOfMessages, type PcmBlock, type PlacedTimes } from '../../calls/pcm-stream.ts';
import { exchange } from '../../calls/socket-exchange.ts';
import { openSocketPool, type SocketPool } from '../../calls/socket-pool.ts';
import type { SocketRequest } from '../../calls/socket.ts';
import { EngineError, type CallOptions } from '../../engine.ts';
import { speakByPhrase, spokenSampleRate, type RenderOptions } from '../../synthesis/by-phrase.ts';
import { missingVoice, openKnownVoices } from '../../synthesis/known-voices.ts';
import type { SpeechSynthesizer } from '../../synthesizer.ts';
import { languageTags } from '../../text/language-tags.ts';
import { azureMessage, PlacedByAzure, readAzureMessage, ssmlOf } from './azure-messages.ts';

const settings = z.strictObject({
  /** Address of the region of the key, such as `https://westeurope.tts.speech.microsoft.com`. */
  baseUrl: baseUrlSchema,
  /** Voice used if the region lacks the requested one. */
  defaultVoice: z.string().min(1).default('en-US-AvaMultilingualNeural'),
  /** Deployment of a custom neural voice; `baseUrl` is then the `voice.speech.microsoft.com` of its region. */
  deployment: z.string().min(1).optional(),
  /** BCP 47 primary tags of the languages that the voices speak. */
  languages: languageTags.default(
    'en de fr es it pt nl pl sv da fi nb cs hu ro el tr ru uk ar he hi th vi id ko ja zh'.split(' '),
  ),
});

export type AzureSettings = z.infer<typeof settings>;

/** The server closes idle connections after a few minutes. */
const idleMs = 60_000;

/** Azure Speech over the WebSocket of its SDK, which sends the times of words and visemes next to the audio. */
export const adapter: Adapter<SpeechSynthesizer, AzureSettings> = {
  settings,
  callPolicy: () => ({ concurrency: 8 }),
  open(chosen, context) {
    const pool = openSocketPool(context, () => connection(chosen, context), idleMs);
    // An unknown voice ends the connection (1007), and so has no status.
    const voices = openKnownVoices(chosen.defaultVoice, ({ status }) => status === undefined);
    const renderer = {
      languages: chosen.languages,
      maxCharacters: 2_000,
      comesWhole: false,
      times: 'shapes' as const,
      render: (text: string, options: RenderOptions) =>
        voices.speak(options.voice, (voice) => say(text, voice, { context, pool }, options)),
    };
    return {
      ...speakByPhrase(renderer, context),
      check: (options: CallOptions) => check(chosen, context, options),
      close: async () => pool.close(),
    };
  },
};

function connection({ baseUrl, deployment }: AzureSettings, context: EngineContext): SocketRequest {
  const url = new URL(addressOf(baseUrl, '/tts/cognitiveservices/websocket/v1'));
  if (deployment !== undefined) url.searchParams.set('deploymentId', deployment);
  const system = { name: 'Dramatis', version: '1', build: 'Node', lang: 'TypeScript' };
  const greeting = azureMessage('speech.config', randomUUID(), JSON.stringify({ context: { system } }));
  const headers = { ...keyOf(context), 'x-connectionid': bareId() };
  return { url, headers, greeting, faultOfClose: (code) => faultOfClose(code, context) };
}

function keyOf({ key }: EngineContext): Readonly<Record<string, string>> {
  return key === undefined ? {} : { 'ocp-apim-subscription-key': key };
}

function bareId(): string {
  return randomUUID().replaceAll('-', '');
}

/** 1007: a voice or a text that it does not take; 4429: too many requests. */
function faultOfClose(code: number, { name }: EngineContext): EngineError | undefined {
  if (code === 1007) {
    const detail = 'the server rejected the request (1007). Check that the region of "baseUrl" has the voice.';
    return new EngineError(name, 'ENGINE_REFUSED', detail);
  }
  if (code !== 4429) return undefined;
  const detail = 'too many requests, or the quota is used up (4429). Wait a minute, or check your plan.';
  return new EngineError(name, 'ENGINE_UNAVAILABLE', detail, undefined, { status: 429 });
}

const wanted = JSON.stringify({
  synthesis: {
    audio: {
      metadataOptions: {
        bookmarkEnabled: false,
        punctuationBoundaryEnabled: false,
        sentenceBoundaryEnabled: false,
        sessionEndEnabled: true,
        visemeEnabled: true,
        wordBoundaryEnabled: true,
      },
      outputFormat: 'raw-24khz-16bit-mono-pcm',
    },
    language: { autoDetection: false },
  },
});

interface Site {
  readonly context: EngineContext;
  readonly pool: SocketPool;
}

async function* say(
  text: string,
  voice: string,
  { context, pool }: Site,
  options: RenderOptions,
): AsyncGenerator<PcmBlock> {
  const id = bareId();
  const request = [
    azureMessage('synthesis.context', id, wanted),
    azureMessage('ssml', id, ssmlOf(text, voice, options)),
  ];
  const read = (message: string | Buffer) => readAzureMessage(message, context);
  const answer = exchange(context, pool, { request, read, isLast: ({ path }) => path === 'turn.end' }, options);
  async function* speech(): AsyncGenerator<Buffer | PlacedTimes> {
    const placed = new PlacedByAzure();
    for await (const { path, audio, metadata } of answer) {
      if (metadata !== undefined) yield placed.take(metadata);
      if (path === 'turn.end') yield placed.rest();
      if (audio !== undefined && audio.length > 0) yield audio;
    }
  }
  yield* pcmBlocksOfMessages(speech(), { sampleRate: spokenSampleRate });
}

const voicesSchema = z.array(z.object({ ShortName: z.string() }));

/** Checks that the server accepts the key, and that the region has the default voice, unless it is a custom one. */
async function check(chosen: AzureSettings, context: EngineContext, options: CallOptions): Promise<string> {
  const { baseUrl, defaultVoice, deployment } = chosen;
  const url = new URL(addressOf(baseUrl, '/cognitiveservices/voices/list'));
  url.protocol = url.protocol.replace(/^ws/, 'http');
  const listed = voicesSchema.safeParse(await sendForJson(context, { url, headers: keyOf(context) }, options));
  if (!listed.success) throw badReply(context, 'no list of its voices');
  if (deployment !== undefined) return `${url.host} accepts the key`;
  if (!listed.data.some(({ ShortName }) => ShortName === defaultVoice)) throw missingVoice(context.name, defaultVoice);
  return `${url.host} accepts the key, and has the voice “${defaultVoice}”`;
}
