import { describe, expect, it, vi } from 'vitest';
import { fakeEngines } from '../fakes/engines.ts';
import { silence, tone } from '../fakes/vad.ts';
import { serve } from './serve-rig.ts';
import { loudness, NodeCaller, singingSynthesizer } from './webrtc-rig.ts';

const path = '/v1/realtime/calls';

type Server = Awaited<ReturnType<typeof serve>>;

const singing = (options: Parameters<typeof fakeEngines>[0] = {}): ReturnType<typeof fakeEngines> =>
  fakeEngines({ synthesizer: singingSynthesizer() as never, ...options });

async function post(
  server: Server,
  body: string | FormData,
  init: { query?: string; key?: string; type?: string } = {},
) {
  return fetch(`${server.url}${path}${init.query ?? ''}`, {
    method: 'POST',
    headers: {
      ...(typeof body === 'string' ? { 'content-type': init.type ?? 'application/sdp' } : {}),
      ...(init.key === undefined ? {} : { authorization: `Bearer ${init.key}` }),
    },
    body,
  });
}

/** A caller who has got through. */
async function dial(server: Server, query = ''): Promise<{ caller: NodeCaller; location: string; answer: string }> {
  const caller = new NodeCaller();
  const response = await post(server, await caller.offer(), { query });
  expect(response.status).toBe(201);
  const answer = await response.text();
  await caller.connect(answer);
  return { caller, location: response.headers.get('location') ?? '', answer };
}

describe('a call over WebRTC', () => {
  it('is answered with Opus, an address of ours, and the session', async () => {
    const server = await serve();
    const { caller, location, answer } = await dial(server, '?model=alice');
    expect(location).toMatch(/^\/v1\/realtime\/calls\/rtc_[\w-]{22}$/);
    expect(answer).toMatch(/^m=audio \d+ UDP\/TLS\/RTP\/SAVPF 96\r$/m);
    expect(answer).toMatch(/^a=candidate:\S+ 1 udp \d+ 127\.0\.0\.1 \d+ typ host/m);
    const { session } = await caller.until('session.created');
    expect(session).toMatchObject({ type: 'realtime', model: 'alice', audio: { output: { voice: 'alice' } } });
    expect((await server.ask('/healthz')).body.sessions).toMatchObject({ active: 1, opened: 1 });
  });

  it('hears speech, answers aloud, and says when it starts and stops sounding', async () => {
    const server = await serve({ engines: singing() });
    const { caller } = await dial(server);
    await caller.until('session.created');
    await caller.speak(silence(200));
    await caller.speak(tone(600));
    await caller.speak(silence(1_200));
    await caller.until('input_audio_buffer.speech_started');
    expect((await caller.until('conversation.item.input_audio_transcription.completed')).transcript).toBe(
      'hello there',
    );
    const { response_id: responseId } = await caller.until('output_audio_buffer.started');
    const { response } = await caller.until('response.done');
    expect(response).toMatchObject({ id: responseId, status: 'completed' });
    expect(await caller.until('output_audio_buffer.stopped')).toMatchObject({ response_id: responseId });
    // Sound travels by the track alone.
    expect(caller.events.some(({ type }) => type === 'response.output_audio.delta')).toBe(false);
    // Packets come another way than events, and may come a little after them.
    await vi.waitFor(() => expect(caller.packets.length).toBeGreaterThanOrEqual(15), { timeout: 10_000 });
    const sound = await caller.heard();
    expect(sound.length).toBeGreaterThanOrEqual(300 * 24);
    expect(loudness(sound.subarray(0, 300 * 24))).toBeGreaterThan(0.2);
    caller.expectOrder();
  });
});
