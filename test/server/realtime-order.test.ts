import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { silence, tone } from '../fakes/vad.ts';
import { connect } from './wire-rig.ts';

describe('the order of wire events', () => {
  it('is kept, and every response ends exactly once, whatever a client does', async () => {
    const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] };
    const act = fc.oneof(
      { weight: 4, arbitrary: fc.integer({ min: 40, max: 900 }).map((ms) => ({ speak: ms })) },
      { weight: 4, arbitrary: fc.integer({ min: 40, max: 1200 }).map((ms) => ({ silence: ms })) },
      fc.constantFrom(
        { send: { type: 'response.create' } },
        { send: { type: 'response.create', response: { conversation: 'none', input: [item] } } },
        { send: { type: 'response.create', response: { output_modalities: ['text'] } } },
        { send: { type: 'response.cancel' } },
        { send: { type: 'input_audio_buffer.commit' } },
        { send: { type: 'input_audio_buffer.clear' } },
        { send: { type: 'conversation.item.create', item } },
        { send: { type: 'session.update', session: { audio: { input: { turn_detection: null } } } } },
        { send: { type: 'session.update', session: { audio: { input: { turn_detection: { type: 'server_vad' } } } } } },
        {
          send: {
            type: 'session.update',
            session: { audio: { input: { turn_detection: { interrupt_response: false } } } },
          },
        },
        { send: { type: 'nonsense' } },
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 25 }), async (script) => {
        const wire = connect({
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
      { numRuns: 60 },
    );
  });
});
