import { expect } from 'vitest';
import { loadCharacter, type Character } from '../../characters/character.ts';
import { openConnection, type ConnectionParts } from '../../server/realtime/connection.ts';
import { newId, audioDelta } from '../../server/realtime/encode.ts';
import type { Client, Peer } from '../../server/realtime/peer.ts';
import { pcm16FromFloats } from '../../voices/audio.ts';
import { orderViolations, unfinishedResponses, type RecordedEvent } from '../conformance/realtime-order.ts';
import { ManualClock } from '../fakes/clock.ts';
import { fakeEngines } from '../fakes/engines.ts';
import { serverEventSchema } from '../../server/protocol/server-events.ts';
import type { RealtimeServerEvent } from 'openai/resources/beta/realtime/realtime';

const holmes: Character = await loadCharacter('characters/sherlock-holmes');

/** Differences of a connection from a stock one. */
export interface ConnectionKind extends Pick<
  ConnectionParts,
  'intent' | 'startWith' | 'castScene' | 'restored' | 'listen' | 'inflow'
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
      bounds: { speculativeRepliesPerTurn: 3, aheadMs: 400, keptAudioMs: 20_000, sessionMs: 60_000 },
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

/** A connection on fakes. Every test ends with a check of its events, each alone and in order. */
export function connect(
  options: Parameters<typeof fakeEngines>[0] & {
    readonly intent?: 'transcription';
  } & Pick<Client, 'holds' | 'cues' | 'mouth'> = {},
) {
  const { intent, holds = false, cues = 'none', mouth } = options;
  const rig = recordConnection(options, { intent, client: { holds, cues, mouth } });
  return {
    ...rig,
    async hangUp() {
      await rig.hangUp();
      for (const event of rig.events) serverEventSchema.parse(event);
    },
  };
}

/** The first event of a transcription session, which the lists of types omit. */
const transcriptionCreated = 'transcription_session.created';

/** The event types known to SDKs of the beta; any other type makes them throw. Checked against OpenAI's own list. */
export const betaTypes: ReadonlySet<string> = new Set([
  'error',
  'session.created',
  'session.updated',
  transcriptionCreated,
  'transcription_session.updated',
  'conversation.created',
  'conversation.item.created',
  'conversation.item.retrieved',
  'conversation.item.truncated',
  'conversation.item.deleted',
  'conversation.item.input_audio_transcription.delta',
  'conversation.item.input_audio_transcription.completed',
  'conversation.item.input_audio_transcription.failed',
  'input_audio_buffer.committed',
  'input_audio_buffer.cleared',
  'input_audio_buffer.speech_started',
  'input_audio_buffer.speech_stopped',
  'response.created',
  'response.done',
  'response.output_item.added',
  'response.output_item.done',
  'response.content_part.added',
  'response.content_part.done',
  'response.text.delta',
  'response.text.done',
  'response.audio.delta',
  'response.audio.done',
  'response.audio_transcript.delta',
  'response.audio_transcript.done',
  'response.function_call_arguments.delta',
  'response.function_call_arguments.done',
  'rate_limits.updated',
] satisfies (RealtimeServerEvent['type'] | typeof transcriptionCreated)[]);

/** A connection on fakes for a beta client. */
export function connectBeta(options: Parameters<typeof fakeEngines>[0] & { readonly intent?: 'transcription' } = {}) {
  const rig = recordConnection(options, { client: { beta: true }, intent: options.intent });
  return {
    ...rig,
    async hangUp() {
      await rig.hangUp(asGa);
      expect(rig.types().filter((type) => !betaTypes.has(type))).toEqual([]);
    },
  };
}

/** Renames an event to its GA name, for the checks of order. */
function asGa(event: RecordedEvent): RecordedEvent {
  const type = event.type
    .replace(/^transcription_session/, 'session')
    .replace(/^conversation\.item\.created$/, 'conversation.item.added')
    .replace(/^response\.(audio|text)/, 'response.output_$1');
  return { ...event, type };
}
