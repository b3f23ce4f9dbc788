import { describe, expect, it } from 'vitest';
import type { CallPolicy } from '../../../voices/calls/call-policy.ts';
import type { OmniMessage, OmniPart } from '../../../voices/omni.ts';
import { adapter } from '../../../voices/omnis/moshi.ts';
import { omniConformance } from '../../conformance/omni.ts';
import { behind } from '../../conformance/upstream.ts';
import { openMoshiServer, type MoshiOptions } from '../../fakes/servers/moshi-server.ts';
import { tone } from '../../fakes/vad.ts';
import { openEngine } from '../../rigs/voice-engine-rig.ts';

const signal = new AbortController().signal;
const spoken = { samples: tone(1_500, 16_000), sampleRate: 16_000 };
const talk: readonly OmniMessage[] = [
  { role: 'system', text: 'You are Martha.' },
  { role: 'user', text: '', sound: spoken },
];

for (const beginsLikeRust of [false, true]) {
  omniConformance({
    title: `moshi (${beginsLikeRust ? 'Rust' : 'Python'})`,
    says: /^Good evening, my friend\.$/,
    behindServer: true,
    open: async (care?: CallPolicy) => {
      const server = await openMoshiServer({ beginsLikeRust });
      const engine = openEngine(adapter, { baseUrl: server.url, endSilenceMs: 300 }, care);
      return behind(engine, server, 'WS /api/chat');
    },
  });
}

async function reply(options: MoshiOptions, given: object = {}, messages = talk): Promise<OmniPart[]> {
  await using server = await openMoshiServer(options);
  const engine = openEngine(adapter, { baseUrl: server.url, ...given }, { retries: 0 });
  return await Array.fromAsync(engine.reply(messages, { signal, speaks: true }));
}

function textOf(parts: readonly OmniPart[]): string {
  return parts.map((part) => (part.type === 'text-delta' ? part.text : '')).join('');
}

function msOf(parts: readonly OmniPart[]): number {
  return parts.reduce((sum, part) => sum + (part.type === 'sound' ? part.samples.length / 24 : 0), 0);
}

describe('Moshi, turn by turn', () => {
  it('Moshi gets the user’s speech, then silence while it speaks, and no more than needed', async () => {
    await using server = await openMoshiServer();
    const engine = openEngine(adapter, { baseUrl: server.url });
    const parts = await Array.fromAsync(engine.reply(talk, { signal, speaks: true }));
    expect(server.heard.voiced).toBeCloseTo(1.5, 0);
    // The speech, four words of 160 ms, a second of final silence, and the lead over real time.
    expect(server.heard.seconds).toBeLessThan(1.5 + 0.64 + 1 + 0.5 + 2);
    expect(msOf(parts)).toBeGreaterThan(4 * 160 - 80);
    // The final silence is left out.
    expect(msOf(parts)).toBeLessThan(4 * 160 + 240);
  });

  it.each<[string, MoshiOptions]>([
    ['cuts its pages anywhere', { cutsAt: 37 }],
    ['speaks into the speech', { mutters: ' Mhm. Yes.' }],
  ])('Moshi is understood when it %s', async (_name, options) => {
    expect(textOf(await reply(options))).toBe('Good evening, my friend.');
  });

  it('Moshi’s Rust server sends its metadata before its handshake, and is understood by replies and by doctor', async () => {
    expect(textOf(await reply({ beginsLikeRust: true }))).toBe('Good evening, my friend.');
    await using server = await openMoshiServer({ beginsLikeRust: true });
    expect(await openEngine(adapter, { baseUrl: server.url }).check?.({ signal })).toContain('accepts conversations');
  });

  it('a Moshi reply that is too long is cut off', async () => {
    const parts = await reply({ says: 'and so on '.repeat(30) }, { mostMs: 1_000 });
    expect(parts.at(-1)).toMatchObject({ type: 'omni-end', reason: 'length' });
    expect(msOf(parts)).toBeLessThan(1_200);
  });

  it.each<[string, MoshiOptions, string]>([
    ['says nothing', { says: '' }, 'ENGINE_BAD_REPLY'],
    [
      'reports an error',
      { failsAfter: { frames: 20, with: Buffer.from('\u0005private words') } },
      'ENGINE_UNAVAILABLE',
    ],
    ['sends what is no Ogg', { failsAfter: { frames: 20, with: Buffer.from('\u0001RIFF....') } }, 'ENGINE_BAD_REPLY'],
    ['sends empty messages', { failsAfter: { frames: 20, with: Buffer.alloc(0) } }, 'ENGINE_BAD_REPLY'],
  ])('Moshi that %s is reported with a code', async (_name, options, code) => {
    const fault = (await reply(options, { waitMs: 1_000 }).catch((cause: unknown) => cause)) as Error;
    expect(fault).toMatchObject({ code });
    expect(fault.message).not.toContain('private');
  });

  it('Moshi is skipped if the user wrote', async () => {
    await using server = await openMoshiServer();
    const engine = openEngine(adapter, { baseUrl: server.url });
    const written: readonly OmniMessage[] = [...talk, { role: 'user', text: 'Good evening.' }];
    const reading = Array.fromAsync(engine.reply(written, { signal, speaks: true }));
    await expect(reading).rejects.toMatchObject({ code: 'ENGINE_REFUSED' });
    expect(server.requests).toEqual([]);
  });

  it('PersonaPlex gets as much of its persona as it can read in time', async () => {
    await using server = await openMoshiServer();
    const engine = openEngine(adapter, { baseUrl: server.url, dialect: 'personaplex', personaCharacters: 4 });
    const long = [{ role: 'system', text: 'abc😀 and so on' }, ...talk.slice(1)] as const;
    await Array.fromAsync(engine.reply(long, { signal, speaks: true }));
    expect(server.requests[0]?.query.get('text_prompt')).toBe('abc\ufffd');
    expect(server.requests[0]?.query.get('voice_prompt')).toBe('NATF0.pt');
  });

  it('doctor reports that Moshi is busy', async () => {
    await using server = await openMoshiServer();
    const engine = openEngine(adapter, { baseUrl: server.url }, { timeouts: { firstByteMs: 100 } });
    expect(await engine.check?.({ signal })).toContain('accepts conversations');
    server.breaks({ kind: 'silence', after: 0 });
    await expect(engine.check?.({ signal })).rejects.toMatchObject({
      detail: expect.stringContaining('busy') as string,
    });
  });

  it('PersonaPlex gets its persona and voice', async () => {
    await using server = await openMoshiServer();
    const engine = openEngine(adapter, {
      baseUrl: server.url,
      dialect: 'personaplex',
      extra: { text_temperature: 0.7 },
    });
    await Array.fromAsync(engine.reply(talk, { signal, speaks: true, voice: 'VARM1.pt' }));
    expect(Object.fromEntries(server.requests[0]?.query ?? [])).toEqual({
      text_temperature: '0.7',
      voice_prompt: 'VARM1.pt',
      text_prompt: 'You are Martha.',
    });
  });
});
