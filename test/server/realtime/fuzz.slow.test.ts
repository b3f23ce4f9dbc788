import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../eval/statistics.ts';
import { orderViolations } from '../../conformance/realtime-order.ts';
import { settle } from '../../fakes/clock.ts';
import { connect } from '../../rigs/connection-rig.ts';

const text = [{ type: 'input_text', text: 'hello' }];
const valid: readonly unknown[] = [
  { type: 'session.update', session: { type: 'realtime', instructions: 'It rains.', output_modalities: ['text'] } },
  {
    type: 'session.update',
    session: { audio: { input: { turn_detection: { type: 'semantic_vad', eagerness: 'high' } } } },
  },
  { type: 'session.update', session: { audio: { input: { turn_detection: null, transcription: null } } } },
  { type: 'input_audio_buffer.append', audio: Buffer.alloc(960, 7).toString('base64') },
  { type: 'input_audio_buffer.commit' },
  { type: 'input_audio_buffer.clear', event_id: 'e1' },
  {
    type: 'conversation.item.create',
    previous_item_id: 'root',
    item: { id: 'i1', type: 'message', role: 'user', content: text },
  },
  {
    type: 'conversation.item.create',
    item: { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'yes' }] },
  },
  { type: 'conversation.item.retrieve', item_id: 'i1' },
  { type: 'conversation.item.truncate', item_id: 'i1', content_index: 0, audio_end_ms: 40 },
  { type: 'conversation.item.delete', item_id: 'i1' },
  { type: 'response.create', response: { conversation: 'none', input: [], metadata: { a: 'b' } } },
  { type: 'response.create' },
  { type: 'response.cancel', response_id: 'resp_1' },
  { type: 'x_dramatis.heard', response_id: 'resp_1', samples: 480 },
];

const odd: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  '',
  '\u0000\uD800',
  '🎭'.repeat(400),
  'x'.repeat(70_000),
  [],
  {},
  [[[[[[]]]]]],
  { toString: 'no' },
  ['audio', 'text', 'audio', 'text'],
];

/** Changes a message somewhere: drops, swaps, nests, or replaces a part by something odd. */
function mutate(value: unknown, random: () => number): unknown {
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  if (typeof value !== 'object' || value === null || random() < 0.15) return pick(odd);
  if (Array.isArray(value)) return random() < 0.3 ? Array(200).fill(value[0]) : value.map((one) => mutate(one, random));
  const entries = Object.entries(value);
  if (entries.length === 0) return pick(odd);
  const [name, inside] = pick(entries);
  const kind = random();
  if (kind < 0.2) return Object.fromEntries(entries.filter(([other]) => other !== name));
  if (kind < 0.3) return { ...value, [pick(['__proto__', 'constructor', 'x_seq', 'type', 'item'])]: pick(odd) };
  return { ...value, [name]: mutate(inside, random) };
}

/** A frame: mostly a mutated message, sometimes text that is not JSON. */
function frame(random: () => number): string {
  const message = valid[Math.floor(random() * valid.length)];
  const kind = random();
  if (kind < 0.1) return JSON.stringify(message);
  const mutated = JSON.stringify(mutate(message, random)) ?? 'undefined';
  if (kind < 0.85) return mutated;
  const at = Math.floor(random() * mutated.length);
  return mutated.slice(0, at) + String.fromCodePoint(Math.floor(random() * 0xd7_ff)) + mutated.slice(at + 1);
}

describe('fuzzing', () => {
  for (let seed = 1; seed <= 20; seed += 1) {
    it(`survives 5,000 random and mutated messages without internal errors (seed ${seed})`, async () => {
      const random = seededRandom(seed);
      const wire = connect({ hears: ['hello', ''], says: ['One two three.'] });
      for (let sent = 0; sent < 5_000; sent += 1) {
        wire.connection.receiveText(frame(random));
        if (sent % 250 === 0) await wire.clock.advance(200);
      }
      await wire.clock.advance(3_000);
      expect(orderViolations(wire.events)).toEqual([]);
      const codes = new Set(
        wire.events.filter((event) => event.type === 'error').map((event) => (event['error'] as { code: string }).code),
      );
      expect(codes).not.toContain('internal_error');
      expect(codes).toContain('invalid_json');
      wire.events.splice(1);
      wire.send({ type: 'session.update', session: { instructions: 'still there' } });
      await settle();
      expect(wire.last('session.updated')?.session.instructions).toBe('still there');
      expect(({} as Record<string, unknown>)['item']).toBeUndefined();
      wire.connection.close();
      await wire.connection.done;
    }, 60_000);
  }
});
