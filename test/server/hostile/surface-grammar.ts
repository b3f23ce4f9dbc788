import * as fc from '../../fakes/property.ts';
import { clientEventTypes } from '../../../server/protocol/client-events.ts';

/** One thing that a hostile client sends. */
export type Case =
  | { readonly kind: 'event'; readonly text: string }
  | { readonly kind: 'frame'; readonly bytes: Uint8Array }
  | { readonly kind: 'request'; readonly method: string; readonly path: string; readonly body: string | undefined }
  | { readonly kind: 'card'; readonly text: string }
  | { readonly kind: 'upload'; readonly path: string; readonly field: string; readonly bytes: Uint8Array };

/** Names that mean something to the server, in events, cards and bodies. */
const knownNames = [
  'type',
  'event_id',
  'session',
  'item',
  'item_id',
  'previous_item_id',
  'response',
  'response_id',
  'content',
  'text',
  'audio',
  'role',
  'id',
  'call_id',
  'name',
  'arguments',
  'output',
  'input',
  'conversation',
  'metadata',
  'instructions',
  'tools',
  'tool_choice',
  'parameters',
  'turn_detection',
  'format',
  'rate',
  'voice',
  'speed',
  'x_dramatis',
  'user',
  'scene',
  'recipe',
  'samples',
  'held',
  'audio_end_ms',
  'content_index',
  'image_url',
  'messages',
  'model',
  'stream',
  'max_tokens',
  'response_format',
  'language',
  'expires_after',
  'seconds',
  'spec',
  'spec_version',
  'data',
  'first_mes',
  'mes_example',
  'character_book',
  'entries',
  'keys',
  'extensions',
  'alternate_greetings',
  'use_regex',
  'description',
  'personality',
  'scenario',
  'assets',
  'nickname',
  'tags',
  '__proto__',
  'constructor',
  'toString',
  'length',
  '',
];

const knownTexts = [
  'user',
  'assistant',
  'system',
  'message',
  'input_text',
  'input_audio',
  'function',
  'realtime',
  'root',
  'none',
  'alice',
  'scene:garden',
  'auto',
  'server_vad',
  'semantic_vad',
  'audio/pcm',
  'audio/pcmu',
  'chara_card_v3',
  '3.0',
  '/(a+)+$/',
  '/[/',
  '%s%n%x',
  '../../etc/passwd',
  '\u0000',
  '\ud800',
  '🎭',
  '<script>',
  '=1+1',
  '-1',
  'NaN',
];

const texts = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...knownTexts) },
  { weight: 3, arbitrary: fc.string({ unit: 'binary', maxLength: 24 }) },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom('x', '[', '%s ', '\\'), fc.nat(3_000)).map(([one, n]) => one.repeat(n)),
  },
);

const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(texts, fc.double(), fc.integer(), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(fc.oneof(fc.constantFrom(...knownNames), fc.string({ maxLength: 6 })), tie('value'), { maxKeys: 6 }),
  ),
}));

/** A JSON text; one in twenty is damaged. */
function written(values: fc.Arbitrary<unknown>): fc.Arbitrary<string> {
  const damaged = fc.tuple(values, fc.nat(), fc.string({ unit: 'binary', maxLength: 3 })).map(([one, at, junk]) => {
    const text = JSON.stringify(one) ?? '';
    const place = at % (text.length + 1);
    return `${text.slice(0, place)}${junk}${text.slice(place + 1)}`;
  });
  return fc.oneof(
    { weight: 19, arbitrary: values.map((one) => JSON.stringify(one) ?? '') },
    { weight: 1, arbitrary: damaged },
  );
}

const fields = fc.dictionary(fc.constantFrom(...knownNames), value, { maxKeys: 5 });

const event = fc
  .tuple(fc.constantFrom(...clientEventTypes, 'nonsense'), fields)
  .map(([type, rest]) => ({ ...rest, type }));

const item = fc
  .tuple(
    fc.constantFrom('user', 'assistant', 'system'),
    fc.array(fields.map((part) => ({ type: 'input_text', ...part }))),
  )
  .map(([role, content]) => ({
    type: 'conversation.item.create',
    item: { type: 'message', role, content },
  }));

const card = fields.map((data) => ({
  spec: 'chara_card_v3',
  spec_version: '3.0',
  data: { name: 'Mara', description: 'x', first_mes: 'Hello.', ...data },
}));

const paths = [
  '/v1/chat/completions',
  '/v1/audio/speech',
  '/v1/realtime/client_secrets',
  '/v1/realtime/calls',
  '/characters',
  '/characters/alice',
  '/characters/alice/talk',
  '/characters/import',
  '/v1/memories/move',
  '/v1/memories?user=x',
  '/voices',
  '/v1/models',
  '/metrics',
  '/asyncapi.json',
  '/nowhere',
  '/characters/%2e%2e%2f',
  '/?x=%00',
];

/** All that a client can send, in the proportions of the fuzz test. */
export const anyCase: fc.Arbitrary<Case> = fc.oneof(
  { weight: 860, arbitrary: written(fc.oneof(event, item)).map((text): Case => ({ kind: 'event', text })) },
  {
    weight: 110,
    arbitrary: fc.uint8Array({ maxLength: 400 }).map((bytes): Case => ({ kind: 'frame', bytes })),
  },
  {
    weight: 28,
    arbitrary: fc
      .tuple(fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE'), fc.constantFrom(...paths), written(fields))
      .map(([method, path, text]): Case => ({
        kind: 'request',
        method,
        path,
        body: method === 'GET' ? undefined : text,
      })),
  },
  { weight: 1, arbitrary: written(card).map((text): Case => ({ kind: 'card', text })) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('/v1/audio/transcriptions', '/characters/import'), fc.uint8Array({ maxLength: 2_000 }))
      .map(([path, bytes]): Case => ({ kind: 'upload', path, field: 'file', bytes })),
  },
);
