import { z } from 'zod';
import { baseUrlSchema, bearer } from '../calls/base-url.ts';
import type { Meter } from '../calls/calls.ts';
import type { Adapter, EngineContext } from '../calls/context.ts';
import { openSocket } from '../calls/socket.ts';
import type { CallOptions } from '../engine.ts';
import type { OmniMessage, OmniModel, OmniOptions, OmniPart } from '../omni.ts';
import { realtimeDialects, type RealtimeDialectName } from './realtime-dialects.ts';
import { nextEvent, readResponse, sessionUpdated } from './realtime-events.ts';

const settings = z.strictObject({
  /** Base URL including the API version, such as `wss://api.openai.com/v1`. */
  baseUrl: baseUrlSchema,
  model: z.string().min(1),
  dialect: z.enum(Object.keys(realtimeDialects) as [RealtimeDialectName, ...RealtimeDialectName[]]).default('openai'),
  /** Voice used if "voices" names none for a character. */
  defaultVoice: z.string().min(1).optional(),
  /** Additional session fields, such as `{"max_output_tokens": 500}`. */
  extra: z.record(z.string(), z.unknown()).default({}),
});

export type OpenaiRealtimeSettings = z.infer<typeof settings>;

/** OpenAI's Realtime API or a compatible one: OpenAI, Qwen-Omni, GLM, or another Dramatis. One connection per reply. */
export const adapter: Adapter<OmniModel, OpenaiRealtimeSettings> = {
  settings,
  callPolicy: () => ({ concurrency: 8 }),
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
        if (realtimeDialects[chosen.dialect].reportsUnsupportedSettings === true) {
          socket.send(JSON.stringify({ type: 'session.update', session: {} }));
          await sessionUpdated(socket, context);
        } else await nextEvent(socket, context, context.timeouts.firstByteMs);
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
  const { signal, meter, speaks } = options;
  const dialect = realtimeDialects[chosen.dialect];
  const socket = await openSocket(context, requestTo(chosen, context), { signal });
  const tell = (event: object): void => socket.send(JSON.stringify(event));
  try {
    const confirms = dialect.reportsUnsupportedSettings === true;
    // Nothing may be sent before the server's first event, except to speaches, which loses it under load.
    if (!confirms) await nextEvent(socket, context, context.timeouts.firstByteMs);
    const voice = options.voice ?? chosen.defaultVoice;
    const session = dialect.session(messages, { ...options, model: chosen.model, voice });
    tell({ type: 'session.update', session: { ...session, ...chosen.extra } });
    if (confirms) await sessionUpdated(socket, context);
    for (const event of await dialect.turnEvents(messages, options)) tell(event);
    yield* readResponse(socket, { upstream: context, meter, speaks });
  } finally {
    socket.close();
  }
}

function requestTo({ baseUrl, model, dialect }: OpenaiRealtimeSettings, { key }: EngineContext) {
  const url = new URL(`${baseUrl.replace(/\/+$/, '')}/realtime`);
  url.searchParams.set('model', model);
  return { url, headers: { ...bearer(key), ...realtimeDialects[dialect].headers } };
}
