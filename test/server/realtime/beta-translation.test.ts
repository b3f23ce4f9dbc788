import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ServerEvent } from '../../../server/protocol/server-events.ts';
import { fromBeta, toBeta } from '../../../server/realtime/beta.ts';
import { silence, tone } from '../../fakes/vad.ts';
import { connectBeta } from '../../rigs/beta-rig.ts';

const translated = (event: object) => toBeta(event as ServerEvent);

describe('the translation of server events', () => {
  it('has every event that a session can send under a name of the beta, or drops it', () => {
    const dropped = [
      'conversation.item.done',
      'conversation.item.input_audio_transcription.segment',
      'input_audio_buffer.timeout_triggered',
      'output_audio_buffer.started',
      'output_audio_buffer.cleared',
      'mcp_list_tools.completed',
      'response.mcp_call.completed',
      'x_dramatis.resumed',
      'something.new',
    ];
    expect(dropped.flatMap((type) => translated({ type, event_id: 'event_1' }))).toEqual([]);
  });

  it('keeps every field that means the same', () => {
    const delta = { type: 'response.output_audio.delta', event_id: 'e', response_id: 'r', item_id: 'i', delta: 'AAA=' };
    expect(translated({ ...delta, output_index: 0, content_index: 0 })).toEqual([
      { ...delta, type: 'response.audio.delta', output_index: 0, content_index: 0 },
    ]);
    const error = { type: 'error', event_id: 'e', error: { code: 'invalid_json', message: 'No.', event_id: null } };
    expect(translated(error)).toEqual([error]);
    const part = { type: 'response.content_part.added', event_id: 'e', part: { type: 'audio', transcript: '' } };
    expect(translated(part)).toEqual([part]);
    const call = { id: 'i', type: 'function_call', call_id: 'c', name: 'look', arguments: '{}', status: 'completed' };
    expect(translated({ type: 'conversation.item.added', event_id: 'e', previous_item_id: null, item: call })).toEqual([
      { type: 'conversation.item.created', event_id: 'e', previous_item_id: null, item: call },
    ]);
  });

  it('never sends a type that the beta lacks, and keeps the order, whatever a client does', async () => {
    const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] };
    const act = fc.oneof(
      { weight: 4, arbitrary: fc.integer({ min: 40, max: 900 }).map((ms) => ({ speak: ms })) },
      { weight: 4, arbitrary: fc.integer({ min: 40, max: 1200 }).map((ms) => ({ silence: ms })) },
      fc.constantFrom(
        { send: { type: 'response.create' } },
        { send: { type: 'response.create', response: { modalities: ['text'] } } },
        { send: { type: 'response.create', response: { conversation: 'none', input: [item] } } },
        { send: { type: 'response.cancel' } },
        { send: { type: 'input_audio_buffer.commit' } },
        { send: { type: 'input_audio_buffer.clear' } },
        { send: { type: 'conversation.item.create', item: { ...item, id: 'one' } } },
        { send: { type: 'conversation.item.retrieve', item_id: 'one' } },
        { send: { type: 'conversation.item.delete', item_id: 'one' } },
        { send: { type: 'session.update', session: { turn_detection: null } } },
        { send: { type: 'session.update', session: { turn_detection: { type: 'server_vad' } } } },
        { send: { type: 'nonsense' } },
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 20 }), async (script) => {
        const wire = connectBeta({
          hears: ['hello', '', new Error('recognition broke'), 'again'],
          says: ['One two three four five six.', new Error('mind broke'), 'Seven.'],
        });
        for (const step of script) {
          if ('speak' in step) await wire.stream(tone(step.speak));
          else if ('silence' in step) await wire.stream(silence(step.silence));
          else wire.send(step.send);
        }
        await expect(wire.hangUp()).resolves.toBeUndefined();
      }),
      { numRuns: 40 },
    );
  });
});

describe('the translation of client messages', () => {
  it('leaves alone what is the same in both, and what it cannot read', () => {
    const messages = [
      { type: 'input_audio_buffer.append', audio: 'AAAA' },
      { type: 'response.cancel' },
      { type: 'response.create' },
      { type: 'response.create', response: null },
      { type: 'session.update' },
      { type: 'session.update', session: [] },
      ['session.update'],
      'session.update',
      null,
    ];
    for (const message of messages) expect(fromBeta(message)).toBe(message);
  });

  it('never throws on any JSON', () => {
    const session = fc.jsonValue();
    fc.assert(
      fc.property(session, fc.constantFrom('session.update', 'response.create'), (value, type) => {
        const field = type === 'session.update' ? 'session' : 'response';
        expect(fromBeta({ type, [field]: value, event_id: 'e' })).toMatchObject({ type, event_id: 'e' });
      }),
    );
  });
});
