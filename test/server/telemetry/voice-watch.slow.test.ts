import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { serverEventSchema } from '../../../server/protocol/server-events.ts';
import { openVoiceWatch, type VoiceSimilarity, type VoiceWatchParts } from '../../../server/telemetry/voice-watch.ts';
import type { SessionEvent } from '../../../server/session/contract/events.ts';
import { EngineError } from '../../../voices/engine.ts';
import type { Voice } from '../../../voices/synthesizer.ts';
import { writeWav } from '../../../voices/dsp/wav.ts';
import { fakeEngines } from '../../fakes/engines.ts';
import { scriptedSpeakerEncoder } from '../../fakes/scripted-speaker-encoder.ts';
import { tone } from '../../fakes/vad.ts';
import { characters, serve } from '../../rigs/serve-rig.ts';
import { testFolder } from '../../fakes/test-folder.ts';

const folder = testFolder();
const wavPath = path.join(folder, 'alice.wav');
await writeWav(wavPath, tone(4_000), 24_000);
const cloned: Voice = { kind: 'reference', wavPath, transcript: 'Oh dear.', language: 'en', consent: 'Alice' };
const alice = characters.get('alice') ?? expect.fail('no Alice');

function watching(script: readonly (number | Error)[], voice: Voice = { kind: 'preset', id: 'alice' }) {
  const encoder = scriptedSpeakerEncoder(script);
  const faults: unknown[] = [];
  const parts: VoiceWatchParts = { encoder, voiceOf: () => voice, onFault: (fault) => void faults.push(fault) };
  return { encoder, faults, watch: openVoiceWatch(parts) };
}

/** The events of a reply of so many milliseconds. */
function replyOf(replyId: string, ms: number, speaks = true): SessionEvent[] {
  const started = {
    type: 'reply-started',
    replyId,
    speaks,
    inConversation: true,
    maxTokens: Infinity,
    echo: null,
  } as const;
  const blocks = Array.from({ length: ms / 100 }, (): SessionEvent => {
    return { type: 'reply-audio', replyId, samples: tone(100), sampleRate: 24_000 };
  });
  return [started, ...(speaks ? blocks : []), { type: 'reply-ended', replyId } as SessionEvent];
}

/** Enough turns of the event loop for the fake. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
}

describe('openVoiceWatch', () => {
  it('compares the beginning of each reply with the reference clip', async () => {
    const { encoder, watch } = watching([0, 0.1, 1], cloned);
    const told: VoiceSimilarity[] = [];
    const hear = watch.follow(alice, (likeness) => told.push(likeness));
    for (const replyId of ['one', 'two']) {
      for (const event of replyOf(replyId, 5_000)) hear(event);
      await expect.poll(() => told.at(-1)?.replyId).toBe(replyId);
    }
    expect(encoder.heardMs).toEqual([4_000, 3_000, 3_000]);
    expect(told.map(({ basis }) => basis)).toEqual(['reference', 'reference']);
    expect(told.map(({ similarity }) => similarity)).toEqual([
      expect.closeTo(Math.cos(0.1), 5),
      expect.closeTo(Math.cos(1), 5),
    ]);
  });

  it('compares with the character’s first reply if no voice is cloned', async () => {
    const { watch } = watching([0.5, 0.5, 0.8]);
    const told: VoiceSimilarity[] = [];
    const sessions = [1, 2].map(() => watch.follow(alice, (likeness) => told.push(likeness)));
    for (const event of replyOf('first', 4_000)) sessions[0]?.(event);
    await settled();
    for (const event of replyOf('same', 4_000)) sessions[1]?.(event);
    await expect
      .poll(() => told)
      .toMatchObject([{ replyId: 'same', basis: 'first_reply', similarity: expect.closeTo(1, 5) }]);
    for (const event of replyOf('other', 2_000)) sessions[0]?.(event);
    await expect.poll(() => told.at(-1)?.similarity).toBeCloseTo(Math.cos(0.3), 5);
  });

  it('ignores short replies and text replies', async () => {
    const { encoder, watch } = watching([0]);
    const hear = watch.follow(alice, () => expect.fail('told'));
    for (const event of [...replyOf('short', 1_400), ...replyOf('text', 5_000, false)]) hear(event);
    await settled();
    expect(encoder.heardMs).toEqual([]);
  });

  it('skips replies instead of queueing them for a slow speaker encoder', async () => {
    const waiting: (() => void)[] = [];
    const slow = {
      ...scriptedSpeakerEncoder(),
      embed: () => new Promise<Float32Array>((resolve) => void waiting.push(() => resolve(Float32Array.of(1, 0)))),
    };
    const watch = openVoiceWatch({ encoder: slow, voiceOf: () => undefined, onFault: () => undefined });
    const hear = watch.follow(alice, () => undefined);
    for (let reply = 0; reply < 9; reply += 1) for (const event of replyOf(`r${reply}`, 3_000)) hear(event);
    await settled();
    expect(waiting).toHaveLength(4);
    for (const answer of waiting.splice(0)) answer();
    await settled();
    for (const event of replyOf('later', 3_000)) hear(event);
    await settled();
    expect(waiting).toHaveLength(1);
  });

  it('continues after a speaker encoder failure and reports it', async () => {
    const gone = new EngineError('speaker encoder', 'ENGINE_UNAVAILABLE', 'its worker thread ended');
    const { faults, watch } = watching([gone, 0, 0], cloned);
    const told: VoiceSimilarity[] = [];
    const hear = watch.follow(alice, (likeness) => told.push(likeness));
    for (const event of replyOf('lost', 3_000)) hear(event);
    await expect.poll(() => faults).toEqual([gone]);
    for (const event of replyOf('heard', 3_000)) hear(event);
    await expect.poll(() => told.map(({ replyId }) => replyId)).toEqual(['heard']);
  });
});

describe('voice similarity', () => {
  const says = [Array.from({ length: 18 }, (_, index) => `word${index}`).join(' ')];

  async function spoken(query: string, watched: boolean) {
    const { watch } = watching([0, 0.2], cloned);
    const engines = fakeEngines({ says, voice: cloned });
    const server = await serve({ engines, ...(watched && { voiceWatch: watch }) });
    const call = server.call(`?model=alice${query}`);
    const types: string[] = [];
    call.socket.on('message', (data: Buffer) => types.push((JSON.parse(data.toString()) as { type: string }).type));
    const { session } = await call.until('session.created');
    call.send({ type: 'response.create' });
    return { server, call, types, extensions: session.x_dramatis.extensions as string[] };
  }

  it('sends voice similarity to clients that ask and to the metrics', { timeout: 20_000 }, async () => {
    const { server, call, extensions } = await spoken('&x=voice', true);
    const { response } = await call.until('response.done');
    const event = await call.until('x_dramatis.voice');
    expect(event).toMatchObject({ response_id: response.id, similarity: 0.98, basis: 'reference' });
    expect(serverEventSchema.parse(event)).toBeTruthy();
    expect(extensions).toContain('voice');
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    expect(metrics).toContain('dramatis_voice_similarity_count{basis="reference"} 1');
    expect(metrics).toContain('dramatis_voice_similarity_bucket{le="0.9",basis="reference"} 0');
  });

  it('sends no voice similarity to other clients or without a speaker encoder', { timeout: 20_000 }, async () => {
    const unasked = await spoken('', true);
    await unasked.call.until('response.done');
    expect(unasked.types).not.toContain('x_dramatis.voice');
    const { server, call, extensions } = await spoken('&x=voice', false);
    await call.until('response.done');
    expect(extensions).not.toContain('voice');
    expect(await (await fetch(`${server.url}/metrics`)).text()).not.toContain('voice_similarity');
  });
});
