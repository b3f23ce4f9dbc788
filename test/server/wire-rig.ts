import { expect } from 'vitest';
import { loadCharacter, type Character } from '../../characters/character.ts';
import { openConnection, type Connection } from '../../server/realtime/connection.ts';
import { serverEventSchema } from '../../server/protocol/server-events.ts';
import { pcm16FromFloats } from '../../voices/audio.ts';
import { orderViolations, unfinishedResponses, type RecordedEvent } from '../conformance/realtime-order.ts';
import { ManualClock } from '../fakes/clock.ts';
import { fakeEngines } from '../fakes/engines.ts';

const holmes: Character = await loadCharacter('characters/sherlock-holmes');

/** A connection on fakes whose frames are recorded; every test of it ends with a check of the order of events. */
export function connect(
  options: Parameters<typeof fakeEngines>[0] & { readonly intent?: 'transcription'; readonly holds?: boolean } = {},
) {
  const clock = new ManualClock();
  const engines = fakeEngines(options);
  const events: RecordedEvent[] = [];
  const connection: Connection = openConnection(
    {
      character: holmes,
      responder: engines.responderFor(holmes),
      vad: engines.vad,
      turnDetector: engines.turnDetector,
      draftsPerTurn: 3,
      holds: options.holds === true,
      model: holmes.id,
      recognizerName: 'fake-recognizer',
      about: { character: { id: holmes.id } },
      aheadMs: 400,
      clock,
      maxSessionMs: 60_000,
      intent: options.intent,
      onFault: (fault) => {
        throw fault;
      },
    },
    { send: (event) => events.push(JSON.parse(JSON.stringify(event)) as RecordedEvent) > 0 },
  );
  const send = (event: Record<string, unknown>): void => connection.receive(JSON.stringify(event));
  return {
    clock,
    engines,
    events,
    connection,
    send,
    async stream(samples: Float32Array) {
      for (let offset = 0; offset < samples.length; offset += 960) {
        const audio = pcm16FromFloats(samples.slice(offset, offset + 960)).toString('base64');
        send({ type: 'input_audio_buffer.append', audio });
        await clock.advance(40);
      }
    },
    types: () => events.map((event) => event.type),
    last: (type: string): any => events.findLast((event) => event.type === type),
    async hangUp() {
      connection.close();
      await connection.done;
      for (const event of events) serverEventSchema.parse(event);
      expect(orderViolations(events)).toEqual([]);
      expect(unfinishedResponses(events)).toEqual([]);
    },
  };
}
