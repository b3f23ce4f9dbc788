import type { RealtimeServerEvent } from 'openai/resources/beta/realtime/realtime';
import { expect } from 'vitest';
import type { RecordedEvent } from '../conformance/realtime-order.ts';
import type { fakeEngines } from '../fakes/engines.ts';
import { recordConnection } from './connection-rig.ts';

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
