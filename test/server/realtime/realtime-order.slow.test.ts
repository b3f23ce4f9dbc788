import * as fc from '../../fakes/property.ts';
import { describe, expect, it } from 'vitest';
import { action, engineScript, performAll } from '../../rigs/random-client.ts';
import { connect } from '../../rigs/connection-rig.ts';

function isOurs(event: Record<string, unknown>): boolean {
  return (event['error'] as { code: string }).code === 'internal_error';
}

describe('event order', () => {
  it('sends events in protocol order and ends every response exactly once, for any behaviour of the client', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 30, size: 'max' }), async (script) => {
        const wire = connect(engineScript);
        await performAll(wire, script);
        await wire.hangUp();
        const faults = wire.events.filter((event) => event.type === 'error' && isOurs(event));
        expect(faults).toEqual([]);
      }),
      { numRuns: 250 },
    );
  }, 60_000);

  it('sends no response in a transcription session, for any behaviour of the client', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 20, size: 'max' }), async (script) => {
        const wire = connect({ intent: 'transcription', hears: ['hello', '', 'again'] });
        await performAll(wire, script);
        await wire.hangUp();
        expect(wire.types().filter((type) => type.startsWith('response.'))).toEqual([]);
        expect(wire.engines.agent.asked).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});
