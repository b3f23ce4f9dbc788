import { z } from 'zod';
import { floatsFromPcm16 } from '../audio.ts';
import { openBase64 } from '../calls/base64-stream.ts';
import type { Meter } from '../calls/calls.ts';
import { brokenOff, readJson, type Upstream } from '../calls/http-faults.ts';
import type { UpstreamSocket } from '../calls/socket.ts';
import { EngineError } from '../engine.ts';
import type { OmniPart } from '../omni.ts';

const eventSchema = z.object({
  type: z.string(),
  delta: z.string().optional(),
  error: z.object({ code: z.string().nullish(), type: z.string().nullish() }).optional(),
  response: z
    .object({
      status: z.string().nullish(),
      status_details: z
        .object({
          reason: z.string().nullish(),
          error: z.object({ code: z.string().nullish(), type: z.string().nullish() }).nullish(),
        })
        .nullish(),
      usage: z.object({ input_tokens: z.number().nullish(), output_tokens: z.number().nullish() }).nullish(),
    })
    .optional(),
});
type RealtimeEvent = z.infer<typeof eventSchema>;

const sampleRate = 24_000;
/** Shorter audio counts as no speech; milliseconds. */
const leastMs = 50;

/** Event names since general availability, then those of the beta. */
const wordEvents: ReadonlySet<string> = new Set([
  'response.output_audio_transcript.delta',
  'response.output_text.delta',
  'response.audio_transcript.delta',
  'response.text.delta',
]);
const soundEvents: ReadonlySet<string> = new Set(['response.output_audio.delta', 'response.audio.delta']);

interface Reading {
  readonly upstream: Upstream;
  readonly meter: Meter;
  readonly speaks: boolean;
}

/** Returns the next event, which must arrive within `limitMs`. Throws on an error event. */
export async function nextEvent(socket: UpstreamSocket, upstream: Upstream, limitMs: number): Promise<RealtimeEvent> {
  const event = await readEvent(socket, upstream, limitMs);
  if (event.type === 'error') throw faultOf(event.error, upstream);
  return event;
}

/** Waits for `session.updated`. Error events before it are settings that the server does not take. */
export async function sessionUpdated(socket: UpstreamSocket, upstream: Upstream): Promise<void> {
  for (;;) {
    const { type } = await readEvent(socket, upstream, upstream.timeouts.firstByteMs);
    if (type === 'session.updated') return;
  }
}

async function readEvent(socket: UpstreamSocket, upstream: Upstream, limitMs: number): Promise<RealtimeEvent> {
  const message = await socket.receive(limitMs);
  if (message === undefined) throw brokenOff(upstream);
  return readJson(message.toString(), eventSchema, upstream, 'a message that is not a Realtime API event');
}

/** Reads one response, from its request to its `response.done`. */
export async function* readResponse(
  socket: UpstreamSocket,
  { upstream, meter, speaks }: Reading,
): AsyncGenerator<OmniPart> {
  const { firstByteMs, betweenBytesMs } = upstream.timeouts;
  const base64 = openBase64();
  let held: Buffer = Buffer.alloc(0);
  let soundMs = 0;
  let hasBegun = false;
  for (;;) {
    const event = await nextEvent(socket, upstream, hasBegun ? betweenBytesMs : firstByteMs);
    const { type, delta = '' } = event;
    if (wordEvents.has(type)) {
      hasBegun = true;
      if (delta !== '') yield { type: 'text-delta', text: delta };
    } else if (soundEvents.has(type) && speaks) {
      hasBegun = true;
      const bytes = Buffer.concat([held, base64.decode(delta)]);
      const whole = bytes.subarray(0, bytes.length - (bytes.length % 2));
      held = bytes.subarray(whole.length);
      const samples = floatsFromPcm16(whole);
      soundMs += (samples.length / sampleRate) * 1000;
      meter.audioSeconds = Math.round(soundMs) / 1000;
      if (samples.length > 0) yield { type: 'sound', samples, sampleRate };
    } else if (type === 'response.done') {
      const end = endOf(event, upstream);
      meter.inputTokens = end.inputTokens;
      meter.outputTokens = end.outputTokens;
      if (speaks && soundMs < leastMs) {
        throw new EngineError(upstream.name, 'ENGINE_BAD_REPLY', 'the model replied without audio. Check its log.');
      }
      yield end;
      return;
    }
  }
}

function endOf({ response }: RealtimeEvent, upstream: Upstream): Extract<OmniPart, { type: 'omni-end' }> {
  const { status, status_details: details, usage } = response ?? {};
  const reason = details?.reason;
  if (status === 'failed') throw faultOf(details?.error ?? undefined, upstream);
  // We never cancel a response, so the server did.
  if (status === 'cancelled') throw brokenOff(upstream);
  return {
    type: 'omni-end',
    reason: reason === 'max_output_tokens' ? 'length' : reason === 'content_filter' ? 'filter' : 'stop',
    inputTokens: usage?.input_tokens ?? 0,
    outputTokens: usage?.output_tokens ?? 0,
  };
}

/** Maps the server's error code; its message is left out, because it may quote the user. */
function faultOf(error: RealtimeEvent['error'], { name, settingNames }: Upstream): EngineError {
  const code = error?.code ?? error?.type ?? '';
  const word = /^[A-Za-z][\w.-]{2,60}$/.test(code) ? ` (${code})` : '';
  if (code === 'invalid_api_key') {
    return new EngineError(name, 'ENGINE_REFUSED', `the server rejected the key${word}. Check ${settingNames.key}.`);
  }
  if (/rate_limit|quota|session_expired|server_error|internal|ENGINE_UNAVAILABLE|ENGINE_TIMEOUT/i.test(code)) {
    return new EngineError(name, 'ENGINE_UNAVAILABLE', `the server failed or is overloaded${word}. Try again later.`);
  }
  const detail = `the server rejected the request${word}. Check ${settingNames.model}, and that the model has the voice.`;
  return new EngineError(name, 'ENGINE_REFUSED', detail);
}
