import * as fc from '../../fakes/property.ts';
import { describe, expect, it } from 'vitest';
import type { ServerEvent } from '../../../server/protocol/server-events.ts';
import { fromBeta, toBeta } from '../../../server/realtime/beta.ts';
import { connectBeta } from '../../rigs/connection-rig.ts';
import { action, engineScript, performAll } from '../../rigs/random-client.ts';

const translated = (event: object) => toBeta(event as ServerEvent);

describe('toBeta', () => {
  it('drops server events that the beta does not have', () => {
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

  it('keeps the fields of events that mean the same in the beta', () => {
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

  it('sends only event types of the beta and in order, for any behaviour of the client', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 20 }), async (script) => {
        const wire = connectBeta(engineScript);
        await performAll(wire, script);
        await expect(wire.hangUp()).resolves.toBeUndefined();
      }),
      { numRuns: 40 },
    );
  });
});

describe('fromBeta', () => {
  it('leaves client messages unchanged that are the same in both dialects or unreadable', () => {
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

  it('translates any JSON in a client frame without throwing', () => {
    const session = fc.jsonValue();
    fc.assert(
      fc.property(session, fc.constantFrom('session.update', 'response.create'), (value, type) => {
        const field = type === 'session.update' ? 'session' : 'response';
        expect(fromBeta({ type, [field]: value, event_id: 'e' })).toMatchObject({ type, event_id: 'e' });
      }),
    );
  });
});
