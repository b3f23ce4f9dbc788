import { expect } from 'vitest';
import { loadCharacter, type Character } from '../../characters/character.ts';
import { openConnection, type ConnectionParts } from '../../server/realtime/connection.ts';
import { newId } from '../../server/realtime/new-id.ts';
import type { Client, Peer } from '../../server/realtime/peer.ts';
import { audioDelta } from '../../server/realtime/wire-event.ts';
import { pcm16FromFloats } from '../../voices/audio.ts';
import { orderViolations, unfinishedResponses, type RecordedEvent } from '../conformance/realtime-order.ts';
import { ManualClock } from '../fakes/clock.ts';
import { fakeEngines } from '../fakes/engines.ts';

const holmes: Character = await loadCharacter('characters/sherlock-holmes');

/** Differences of a connection from a stock one. */
export interface ConnectionKind extends Pick<
  ConnectionParts,
  'intent' | 'startWith' | 'castScene' | 'restored' | 'listen'
> {
  readonly client?: Client;
  readonly open?: typeof openConnection;
  /** Takes what is sent, once it is recorded; audio is recorded as the event that would carry it. */
  readonly peer?: Peer;
}

/** A connection on fakes with a manual clock, whose events are recorded. */
export function recordConnection(options: Parameters<typeof fakeEngines>[0] = {}, kind: ConnectionKind = {}) {
  const { open = openConnection, client = {}, peer, ...parts } = kind;
  const clock = new ManualClock();
  const engines = fakeEngines(options);
  const events: RecordedEvent[] = [];
  const record = (event: object): void => void events.push(JSON.parse(JSON.stringify(event)) as RecordedEvent);
  const connection = open(
    {
      casting: {
        character: holmes,
        responder: engines.responderFor(holmes),
        about: { character: { id: holmes.id } },
      },
      engines: { vad: engines.vad, turnDetector: engines.turnDetector },
      client,
      bounds: { draftsPerTurn: 3, aheadMs: 400, keptAudioMs: 20_000, sessionMs: 60_000 },
      ports: {
        clock,
        newId,
        onFault: (fault) => {
          throw fault;
        },
      },
      model: holmes.id,
      recognizer: 'fake-recognizer',
      // As many microtasks as without a memory store: the oracle's order suite depends on them.
      async recall() {
        await Promise.resolve();
        return [];
      },
      ...parts,
    },
    {
      send(event) {
        record(event);
        return peer?.send(event) ?? true;
      },
      ...(peer?.sendAudio === undefined
        ? {}
        : {
            sendAudio(audio) {
              record({ event_id: newId('event'), ...audioDelta(audio) });
              return peer.sendAudio?.(audio) ?? true;
            },
          }),
    },
  );
  const send = (event: Record<string, unknown>): void => connection.receiveText(JSON.stringify(event));
  return {
    clock,
    engines,
    events,
    connection,
    send,
    /** Sends 24 kHz PCM, at the pace of the clock. */
    async stream(samples: Float32Array) {
      for (let offset = 0; offset < samples.length; offset += 960) {
        const audio = pcm16FromFloats(samples.slice(offset, offset + 960)).toString('base64');
        send({ type: 'input_audio_buffer.append', audio });
        await clock.advance(40);
      }
    },
    types: () => events.map((event) => event.type),
    last: (type: string): any => events.findLast((event) => event.type === type),
    /** Hangs up, and checks that all events came in GA order; `asGa` renames them to their GA names. */
    hangUp: async (asGa: (event: RecordedEvent) => RecordedEvent = (event) => event): Promise<void> => {
      connection.close();
      await connection.done;
      expect(orderViolations(events.map(asGa))).toEqual([]);
      expect(unfinishedResponses(events)).toEqual([]);
    },
  };
}
