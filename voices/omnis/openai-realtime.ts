import { z } from 'zod';
import { pcm16FromFloats } from '../audio.ts';
import { baseUrlSchema, bearer } from '../calls/base-url.ts';
import type { Meter } from '../calls/calls.ts';
import type { Adapter, EngineContext } from '../calls/context.ts';
import { openSocket } from '../calls/socket.ts';
import type { CallOptions } from '../engine.ts';
import type { OmniMessage, OmniModel, OmniOptions, OmniPart } from '../omni.ts';
import { resample } from '../resampler.ts';
import { nextEvent, readResponse } from './realtime-events.ts';

const settings = z.strictObject({
  /** With the version, such as `wss://api.openai.com/v1`. */
  baseUrl: baseUrlSchema,
  model: z.string().min(1),
  /** Who speaks where "voices" names nobody for a character. */
  defaultVoice: z.string().min(1).optional(),
  /** Further fields of the session, such as `{"max_output_tokens": 500}`. */
  extra: z.record(z.string(), z.unknown()).default({}),
});

export type OpenaiRealtimeSettings = z.infer<typeof settings>;

const sampleRate = 24_000;

/** OpenAI's Realtime API as it is since its general availability: OpenAI itself, or another Dramatis. One connection a reply. */
export const adapter: Adapter<OmniModel, OpenaiRealtimeSettings> = {
  settings,
  care: () => ({ concurrency: 8 }),
  open: (chosen, context) => ({
    name: context.name,
    reply: (messages, options) =>
      context.calls.stream(
        ({ signal, meter }) => ask(messages, { ...options, signal, meter }, chosen, context),
        options,
      ),
    async check(options: CallOptions) {
      const socket = await openSocket(context, requestTo(chosen, context), options);
      try {
        await nextEvent(socket, context, context.timeouts.firstByteMs);
        return `${new URL(chosen.baseUrl).host} opens sessions`;
      } finally {
        socket.close();
      }
    },
  }),
};

async function* ask(
  messages: readonly OmniMessage[],
  options: OmniOptions & { readonly meter: Meter },
  chosen: OpenaiRealtimeSettings,
  context: EngineContext,
): AsyncGenerator<OmniPart> {
  const { signal, meter, speaks, maxTokens } = options;
  const socket = await openSocket(context, requestTo(chosen, context), { signal });
  const tell = (event: object): void => socket.send(JSON.stringify(event));
  try {
    // Nothing may be sent before the server has greeted.
    await nextEvent(socket, context, context.timeouts.firstByteMs);
    tell({ type: 'session.update', session: sessionFor(messages, options, chosen) });
    for (const message of messages) {
      if (message.role !== 'system') tell({ type: 'conversation.item.create', item: itemOf(message) });
    }
    const limit = maxTokens === undefined || maxTokens === Infinity ? {} : { max_output_tokens: maxTokens };
    tell({ type: 'response.create', response: limit });
    yield* readResponse(socket, { upstream: context, meter, speaks });
  } finally {
    socket.close();
  }
}

function requestTo({ baseUrl, model }: OpenaiRealtimeSettings, { key }: EngineContext) {
  const url = new URL(`${baseUrl.replace(/\/+$/, '')}/realtime`);
  url.searchParams.set('model', model);
  return { url, headers: bearer(key) };
}

function sessionFor(
  messages: readonly OmniMessage[],
  { speaks, voice: wanted }: OmniOptions,
  { defaultVoice, extra }: OpenaiRealtimeSettings,
): object {
  const format = { type: 'audio/pcm', rate: sampleRate };
  const voice = wanted ?? defaultVoice;
  return {
    type: 'realtime',
    instructions: messages.flatMap(({ role, text }) => (role === 'system' ? [text] : [])).join('\n\n'),
    output_modalities: [speaks ? 'audio' : 'text'],
    // The turns are ours.
    audio: { input: { format, turn_detection: null }, output: { format, ...(voice === undefined ? {} : { voice }) } },
    ...extra,
  };
}

function itemOf({ role, text, sound }: OmniMessage): object {
  const content: object[] = [];
  if (text !== '') content.push({ type: role === 'assistant' ? 'output_text' : 'input_text', text });
  if (sound !== undefined) {
    const audio = pcm16FromFloats(resample(sound.samples, sound.sampleRate, sampleRate)).toString('base64');
    content.push({ type: 'input_audio', audio });
  }
  return { type: 'message', role, content };
}
