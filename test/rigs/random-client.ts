import * as fc from '../fakes/property.ts';
import { silence, tone } from '../fakes/vad.ts';
import type { connect } from './connection-rig.ts';

/** A connection on fakes. */
type Wire = ReturnType<typeof connect>;

/** Actions of a client; those on an item or call take the latest one. */
const deeds = {
  'take a turn': async (wire: Wire, ms: number) => {
    await wire.stream(tone(400));
    await wire.stream(silence(800 + ms));
  },
  speak: (wire: Wire, ms: number) => wire.stream(tone(ms)),
  'be silent': (wire: Wire, ms: number) => wire.stream(silence(ms)),
  wait: (wire: Wire, ms: number) => wire.clock.advance(ms),
  'cut the last item': (wire: Wire, ms: number) =>
    wire.send({ type: 'conversation.item.truncate', item_id: lastItem(wire), content_index: 0, audio_end_ms: ms }),
  'delete the last item': (wire: Wire) => wire.send({ type: 'conversation.item.delete', item_id: lastItem(wire) }),
  'fetch the last item': (wire: Wire) => wire.send({ type: 'conversation.item.retrieve', item_id: lastItem(wire) }),
  'cancel the last response': (wire: Wire) =>
    wire.send({ type: 'response.cancel', response_id: wire.last('response.created')?.response.id ?? 'none' }),
  'bring back the last call': (wire: Wire) => {
    const call_id = wire.last('response.function_call_arguments.done')?.call_id ?? 'none';
    wire.send({ type: 'conversation.item.create', item: { type: 'function_call_output', call_id, output: '{}' } });
    wire.send({ type: 'response.create' });
  },
  'tell what was heard': (wire: Wire, ms: number) => {
    const response_id = wire.last('response.created')?.response.id ?? 'none';
    wire.send({ type: 'x_dramatis.heard', response_id, samples: ms * 24 });
  },
} satisfies Record<string, (wire: Wire, ms: number) => void | Promise<void>>;

function lastItem(wire: Wire): string {
  return wire.last('conversation.item.added')?.item.id ?? 'none';
}

const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] };
const tool = { type: 'function', name: 'look_up', parameters: { type: 'object' } };
const detection = (turn_detection: unknown): unknown => ({
  type: 'session.update',
  session: { audio: { input: { turn_detection } } },
});

/** Offers tools, and wants to be spoken to when it falls silent. */
const talkative = {
  type: 'session.update',
  session: { tools: [tool], audio: { input: { turn_detection: { type: 'server_vad', idle_timeout_ms: 500 } } } },
};

const frames: readonly unknown[] = [
  { type: 'response.create' },
  { type: 'response.create', response: { conversation: 'none', input: [item], tools: [tool] } },
  { type: 'response.create', response: { output_modalities: ['text'], tools: [tool] } },
  { type: 'response.create', response: { tool_choice: 'none', max_output_tokens: 5 } },
  { type: 'response.cancel' },
  { type: 'input_audio_buffer.commit' },
  { type: 'input_audio_buffer.clear' },
  { type: 'conversation.item.create', item },
  {
    type: 'conversation.item.create',
    item: { type: 'function_call', call_id: 'mine', name: 'look_up', arguments: '{}' },
  },
  {
    type: 'conversation.item.create',
    item: { type: 'mcp_list_tools', server_label: 'x', tools: [] },
    previous_item_id: 'root',
  },
  { type: 'session.update', session: { tools: [tool], tool_choice: 'auto' } },
  { type: 'session.update', session: { tools: null } },
  { type: 'session.update', session: { audio: { input: { transcription: null } } } },
  { type: 'session.update', session: { audio: { input: { transcription: { model: 'whisper-1' } } } } },
  detection(null),
  detection({ type: 'server_vad' }),
  detection({ type: 'server_vad', idle_timeout_ms: 500 }),
  detection({ type: 'semantic_vad', eagerness: 'high' }),
  detection({ interrupt_response: false }),
  detection({ create_response: false }),
  { type: 'nonsense' },
];

/** One action of a random client: a spoken or timed deed, or a frame sent as it is. */
export const action = fc.oneof(
  { weight: 2, arbitrary: fc.tuple(fc.constant('take a turn' as const), fc.nat(800)) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('speak' as const), fc.integer({ min: 40, max: 900 })) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('be silent' as const), fc.integer({ min: 40, max: 1_200 })) },
  {
    weight: 5,
    arbitrary: fc.tuple(fc.constantFrom(...(Object.keys(deeds) as (keyof typeof deeds)[])), fc.nat(1_200)),
  },
  { weight: 3, arbitrary: fc.constantFrom({ type: 'response.create' }, talkative) },
  { weight: 6, arbitrary: fc.constantFrom(...frames) },
);

/** Performs the actions in order. */
export async function performAll(wire: Wire, script: readonly unknown[]): Promise<void> {
  for (const step of script) {
    if (Array.isArray(step)) await deeds[step[0] as keyof typeof deeds](wire, step[1] as number);
    else wire.send(step as Record<string, unknown>);
  }
}

const call = { name: 'look_up', arguments: '{"what":"rain"}' };

/** The engines' script for a random client: transcripts, replies with and without tool calls, and faults. */
export const engineScript = {
  hears: ['hello', '', new Error('recognition broke'), 'again'],
  says: [
    'One two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen.',
    { text: 'Let me look.', calls: [call, call] },
    new Error('mind broke'),
    { calls: [call] },
    { text: 'I shall', cutShort: 'length' as const },
    'Seven.',
  ],
};
