import { expect } from 'vitest';
import { loadCharacter, type Character } from '../../characters/character.ts';
import { openConnection, type ConnectionParts, type ServerEvent } from '../../server/realtime/connection.ts';
import { pcm16FromFloats } from '../../voices/audio.ts';
import { orderViolations, unfinishedResponses, type RecordedEvent } from '../conformance/realtime-order.ts';
import { ManualClock } from '../fakes/clock.ts';
import { fakeEngines } from '../fakes/engines.ts';

const holmes: Character = await loadCharacter('characters/sherlock-holmes');

/** Differences of a connection from a stock one. */
export interface ConnectionKind extends Pick<
  ConnectionParts,
  'intent' | 'startWith' | 'holds' | 'cues' | 'castScene' | 'restored' | 'journal' | 'memory'
> {
  /** Its dialect; OpenAI Realtime (GA) by default. */
  readonly open?: typeof openConnection;
  /** Forwards an event once it is recorded. */
  readonly forward?: (event: ServerEvent) => boolean;
}

/** A connection on fakes with a manual clock, whose events are recorded. */
export function recordConnection(options: Parameters<typeof fakeEngines>[0] = {}, kind: ConnectionKind = {}) {
  const { open = openConnection, forward = () => true, ...parts } = kind;
  const clock = new ManualClock();
  const engines = fakeEngines(options);
  const events: RecordedEvent[] = [];
  const connection = open(
    {
      character: holmes,
      responder: engines.responderFor(holmes),
      vad: engines.vad,
      turnDetector: engines.turnDetector,
      draftsPerTurn: 3,
      model: holmes.id,
      recognizerName: 'fake-recognizer',
      about: { character: { id: holmes.id } },
      aheadMs: 400,
      keptAudioMs: 20_000,
      clock,
      maxSessionMs: 60_000,
      ...parts,
      onFault: (fault) => {
        throw fault;
      },
    },
    {
      send(event) {
        events.push(JSON.parse(JSON.stringify(event)) as RecordedEvent);
        return forward(event);
      },
    },
  );
  const send = (event: Record<string, unknown>): void => connection.receive(JSON.stringify(event));
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
