import type { RealtimeServerEvent } from 'openai/resources/beta/realtime/realtime';
import { expect } from 'vitest';
import { loadCharacter } from '../../characters/character.ts';
import { openBetaConnection } from '../../server/realtime/beta.ts';
import { pcm16FromFloats } from '../../voices/audio.ts';
import { orderViolations, unfinishedResponses, type RecordedEvent } from '../conformance/realtime-order.ts';
import { ManualClock } from '../fakes/clock.ts';
import { fakeEngines } from '../fakes/engines.ts';

const holmes = await loadCharacter('characters/sherlock-holmes');

/** The first event of a transcription session, which the lists of types had forgotten. */
const transcriptionCreated = 'transcription_session.created';

/** What SDKs of the beta know; one of any other type makes them throw. Checked against OpenAI's own list of types. */
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

/** A connection on fakes for a client of the beta. */
export function connectBeta(options: Parameters<typeof fakeEngines>[0] & { readonly intent?: 'transcription' } = {}) {
  const clock = new ManualClock();
  const engines = fakeEngines(options);
  const events: RecordedEvent[] = [];
  const connection = openBetaConnection(
    {
      character: holmes,
      responder: engines.responderFor(holmes),
      vad: engines.vad,
      model: holmes.id,
      recognizerName: 'fake-recognizer',
      about: {},
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
    events,
    send,
    async stream(samples: Float32Array) {
      for (let offset = 0; offset < samples.length; offset += 960) {
        const audio = pcm16FromFloats(samples.slice(offset, offset + 960)).toString('base64');
        send({ type: 'input_audio_buffer.append', audio });
        await clock.advance(40);
      }
    },
    last: (type: string): any => events.findLast((event) => event.type === type),
    async hangUp() {
      connection.close();
      await connection.done;
      expect(events.map(({ type }) => type).filter((type) => !betaTypes.has(type))).toEqual([]);
      expect(orderViolations(events.map(asGa))).toEqual([]);
      expect(unfinishedResponses(events)).toEqual([]);
    },
  };
}

/** Gives an event its name in GA, for the checks of order. */
function asGa(event: RecordedEvent): RecordedEvent {
  const type = event.type
    .replace(/^transcription_session/, 'session')
    .replace(/^conversation\.item\.created$/, 'conversation.item.added')
    .replace(/^response\.(audio|text)/, 'response.output_$1');
  return { ...event, type };
}
