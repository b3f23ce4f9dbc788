import type { ServerEvent } from '../protocol/server-events.ts';
import type { IncomingHttpHeaders } from 'node:http';
import { pcmFormat, type AudioFormat } from './audio-format.ts';
import type { SessionPatch } from '../protocol/client-events.ts';
import { newId } from './encode.ts';

type Fields = Record<string, unknown>;

/** Audio formats, by their names in the beta. */
const formats: ReadonlyMap<string, AudioFormat> = new Map([
  ['pcm16', pcmFormat],
  ['g711_ulaw', { type: 'audio/pcmu' }],
  ['g711_alaw', { type: 'audio/pcma' }],
]);

/** Reported where the beta has a temperature and GA has none any more: the beta's default. */
const temperature = 0.8;

/** Every server event that a beta client knows, by its name in GA. Its SDK would throw at others. */
const eventTypes: Readonly<Record<string, string>> = {
  'conversation.item.added': 'conversation.item.created',
  'response.output_audio.delta': 'response.audio.delta',
  'response.output_audio.done': 'response.audio.done',
  'response.output_audio_transcript.delta': 'response.audio_transcript.delta',
  'response.output_audio_transcript.done': 'response.audio_transcript.done',
  'response.output_text.delta': 'response.text.delta',
  'response.output_text.done': 'response.text.done',
  ...Object.fromEntries(
    [
      'error',
      'session.created',
      'session.updated',
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
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'rate_limits.updated',
    ].map((type) => [type, type]),
  ),
};

/** Returns true for clients of the API before GA: by header, or in browsers by subprotocol. */
export function speaksBeta(headers: IncomingHttpHeaders): boolean {
  const named = (header: string | string[] | undefined, name: string): boolean =>
    [header].flat().some((value) => value?.split(',').some((one) => one.trim() === name));
  return (
    named(headers['openai-beta'], 'realtime=v1') || named(headers['sec-websocket-protocol'], 'openai-beta.realtime-v1')
  );
}

/** The initial settings of a beta client: `server_vad`, as it knows no other turn detection, and some throw at one. */
export function betaStart(startWith: SessionPatch | undefined): SessionPatch {
  const input = { turn_detection: { type: 'server_vad' as const }, ...startWith?.audio?.input };
  return { ...startWith, audio: { ...startWith?.audio, input } };
}

/** Returns the events for a beta client in place of a GA event: none, one, or two. */
export function toBeta(event: ServerEvent): ServerEvent[] {
  const { session, item, response }: Fields = event;
  const writesDown = fieldsOf(session)['type'] === 'transcription';
  const type = writesDown ? `transcription_${event.type}` : eventTypes[event.type];
  if (type === undefined) return [];
  const translated = {
    ...event,
    type,
    ...(isFields(session) ? { session: betaSession(session) } : {}),
    ...(isFields(item) ? { item: betaItem(item) } : {}),
    ...(isFields(response) ? { response: betaResponse(response) } : {}),
  };
  // Peers send a beta event in the same way as the event of GA that it replaces.
  const events = [translated as unknown as ServerEvent];
  if (type !== 'session.created') return events;
  const conversation = { id: `conv_${String(fieldsOf(session)['id'])}`, object: 'realtime.conversation' };
  const created = { type: 'conversation.created', event_id: newId('event'), conversation };
  return [...events, created as unknown as ServerEvent];
}

/** Translates a session, of either type, to the beta. */
export function betaSession(session: Fields): Fields {
  if (session['type'] === 'transcription') return betaTranscription(session);
  const { type: _gaOnly, audio, output_modalities: modalities, max_output_tokens: maxTokens, ...same } = session;
  const input = fieldsOf(fieldsOf(audio)['input']);
  const output = fieldsOf(fieldsOf(audio)['output']);
  return {
    ...same,
    modalities: betaModalities(modalities),
    voice: output['voice'],
    speed: output['speed'],
    input_audio_format: betaFormat(input['format']),
    output_audio_format: betaFormat(output['format']),
    input_audio_transcription: input['transcription'],
    input_audio_noise_reduction: input['noise_reduction'],
    turn_detection: input['turn_detection'],
    temperature,
    max_response_output_tokens: maxTokens,
  };
}

function betaTranscription(session: Fields): Fields {
  const { type: _gaOnly, audio, ...same } = session;
  const input = fieldsOf(fieldsOf(audio)['input']);
  const { turn_detection: detection } = input;
  // A transcription session makes no replies, so settings about replies are left out.
  const {
    create_response: _creates,
    interrupt_response: _interrupts,
    idle_timeout_ms: _idle,
    ...found
  } = fieldsOf(detection);
  return {
    ...same,
    modalities: ['audio', 'text'],
    input_audio_format: betaFormat(input['format']),
    input_audio_transcription: input['transcription'],
    input_audio_noise_reduction: input['noise_reduction'],
    turn_detection: detection === null ? null : found,
  };
}

/** Translates a client's message to GA, unchecked: parts that are the same in both, or invalid in both, stay. */
export function fromBeta(message: unknown): unknown {
  if (!isFields(message)) return message;
  const { type, session, response } = message;
  if (type === 'session.update' && isFields(session)) return { ...message, session: sessionFromBeta(session) };
  if (type === 'transcription_session.update') {
    const wanted = isFields(session) ? transcriptionFromBeta(session) : session;
    return { ...message, type: 'session.update', session: wanted };
  }
  if (type === 'response.create' && isFields(response)) return { ...message, response: responseFromBeta(response) };
  return message;
}

/** Translates a beta client's session to GA, unchecked. Fields that GA lacks, such as temperature, are left out. */
export function sessionFromBeta(session: Fields): Fields {
  const { input_audio_format: inputFormat, output_audio_format: outputFormat, audio, ...rest } = session;
  const { modalities, max_response_output_tokens: maxTokens, temperature: _gone, client_secret: _made, ...same } = rest;
  const { voice, speed, turn_detection: detection, input_audio_transcription: transcription, ...others } = same;
  const { input_audio_noise_reduction: noiseReduction, ...common } = others;
  const given = fieldsOf(audio);
  const input = {
    ...fieldsOf(given['input']),
    ...known({ format: formatFromBeta(inputFormat) }),
    // Here null has a meaning: it switches the feature off.
    ...(detection === undefined ? {} : { turn_detection: detectionFromBeta(detection) }),
    ...(transcription === undefined ? {} : { transcription: isFields(transcription) ? known(transcription) : null }),
    ...(noiseReduction === undefined ? {} : { noise_reduction: noiseReduction }),
  };
  const output = { ...fieldsOf(given['output']), ...known({ format: formatFromBeta(outputFormat), voice, speed }) };
  return {
    ...known(common),
    ...known({ output_modalities: modalities, max_output_tokens: maxTokens }),
    audio: { input, output },
  };
}

function transcriptionFromBeta(session: Fields): Fields {
  return { ...sessionFromBeta(session), type: 'transcription' };
}

/** Translates the body of `POST /v1/realtime/transcription_sessions`, which names the secret's expiry differently. */
export function transcriptionSecretFromBeta(body: unknown): unknown {
  if (!isFields(body)) return body ?? { session: { type: 'transcription' } };
  const { expires_at, expires_after = expires_at } = fieldsOf(body['client_secret']);
  return { session: transcriptionFromBeta(body), ...known({ expires_after }) };
}

/** Translates a `POST /v1/realtime/sessions` body to that of `POST /v1/realtime/client_secrets`; unchecked. */
export function clientSecretFromBeta(body: unknown): unknown {
  if (!isFields(body)) return body ?? {};
  const { expires_after } = fieldsOf(body['client_secret']);
  return { session: sessionFromBeta(body), ...known({ expires_after }) };
}

function responseFromBeta(response: Fields): Fields {
  const { modalities, max_response_output_tokens: maxTokens, temperature: _gone, ...rest } = response;
  const { voice, output_audio_format: format, ...same } = rest;
  return {
    audio: { output: known({ voice, format: formatFromBeta(format) }) },
    ...known(same),
    ...known({ output_modalities: modalities, max_output_tokens: maxTokens }),
  };
}

function betaResponse(response: Fields): Fields {
  const { audio, output_modalities: modalities, output, ...same } = response;
  const { format, voice } = fieldsOf(fieldsOf(audio)['output']);
  return {
    ...same,
    modalities: betaModalities(modalities),
    voice,
    output_audio_format: betaFormat(format),
    temperature,
    output: (output as readonly Fields[]).map(betaItem),
  };
}

/** Removes `output_` from the types of content parts, which the beta does not have. */
function betaItem(item: Fields): Fields {
  if (!Array.isArray(item['content'])) return item;
  const content = (item['content'] as readonly Fields[]).map((part) => ({
    ...part,
    type: String(part['type']).replace(/^output_/, ''),
  }));
  return { ...item, content };
}

/** Translates modalities: GA's audio is audio and text in the beta, which never has one without the other. */
function betaModalities(modalities: unknown): readonly string[] | undefined {
  if (!Array.isArray(modalities)) return undefined;
  return modalities.includes('audio') ? ['audio', 'text'] : ['text'];
}

function betaFormat(format: unknown): string | undefined {
  return [...formats].find(([, { type }]) => type === fieldsOf(format)['type'])?.[0];
}

/** Translates a format name; an unknown one is passed on, to be refused by name. */
function formatFromBeta(name: unknown): Fields | undefined {
  if (typeof name !== 'string') return undefined;
  return formats.get(name) ?? { type: name };
}

function detectionFromBeta(detection: unknown): Fields | null {
  if (!isFields(detection) || detection['type'] === 'none' || detection['type'] === 'disabled') return null;
  return known(detection);
}

/** Removes fields without a value: old SDKs send null for what was not set. */
function known(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));
}

function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
