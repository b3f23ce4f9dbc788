import { describe, expect, it } from 'vitest';
import type { CallPolicy } from '../../../voices/calls/call-policy.ts';
import { adapter } from '../../../voices/synthesizers/cosyvoice.ts';
import { readWav } from '../../../voices/dsp/wav.ts';
import { synthesizerConformance } from '../../conformance/synthesizer.ts';
import { openCosyvoiceServer } from '../../fakes/servers/cosyvoice-server.ts';
import { clipForTests, openEngine, opened, say } from '../../rigs/voice-engine-rig.ts';

const { voice, defaultClip } = await clipForTests();

synthesizerConformance({
  title: 'cosyvoice (the voice of a clip)',
  voice,
  behindServer: true,
  atRate: 'each version has one rate',
  open: async (care?: CallPolicy) =>
    opened(adapter, { defaultClip }, { server: await openCosyvoiceServer(), route: 'POST /inference_zero_shot', care }),
});
synthesizerConformance({
  title: 'cosyvoice (a voice of its own, 22.05 kHz)',
  voice: { kind: 'preset', id: '中文女' },
  behindServer: true,
  atRate: 'each version has one rate',
  open: async (care?: CallPolicy) => {
    const server = await openCosyvoiceServer({ sampleRate: 22_050, voices: ['中文女'] });
    return opened(adapter, { version: 1, defaultVoice: '中文女' }, { server, route: 'POST /inference_sft', care });
  },
});

describe('CosyVoice', () => {
  it.each([
    [{}, 'en', '/inference_zero_shot', { tts_text: 'Mind the step.', prompt_text: 'I keep the house.' }],
    [{}, 'zh-Hans', '/inference_cross_lingual', { tts_text: 'Mind the step.', prompt_text: null }],
    [
      { version: 3 },
      'en',
      '/inference_zero_shot',
      { prompt_text: 'You are a helpful assistant.<|endofprompt|>I keep the house.' },
    ],
    [
      { instructions: 'whisper' },
      'en',
      '/inference_instruct2',
      { instruct_text: 'whisper<|endofprompt|>', tts_text: 'Mind the step.' },
    ],
  ])('CosyVoice with %o, of %s, is called by %s', async (given, language, path, fields) => {
    await using server = await openCosyvoiceServer();
    expect(await say(openEngine(adapter, { baseUrl: server.url, ...given }), voice, { language })).not.toEqual([]);
    const [request] = server.requests;
    expect(request?.path).toBe(path);
    const form = await request?.form();
    for (const [name, value] of Object.entries(fields)) expect(form?.get(name)).toBe(value);
  });

  it('CosyVoice3 gets a manner as in its training: after its system prompt and a space', async () => {
    await using server = await openCosyvoiceServer();
    const engine = openEngine(adapter, { baseUrl: server.url, version: 3, instructions: 'Speak sadly.' });
    await say(engine, voice, { language: 'en' });
    const form = await server.requests[0]?.form();
    expect(form?.get('instruct_text')).toBe('You are a helpful assistant. Speak sadly.<|endofprompt|>');
  });

  it('CosyVoice gets the clip with the request, as a WAV that every version can read', async () => {
    await using server = await openCosyvoiceServer();
    await say(openEngine(adapter, { baseUrl: server.url }), voice);
    const clip = (await server.requests[0]?.form())?.get('prompt_wav') as File;
    const { samples, sampleRate } = await readWav(Buffer.from(await clip.arrayBuffer()));
    expect([sampleRate, samples.length]).toEqual([24_000, 96_000]);
  });

  it('CosyVoice that cannot read the clip but answers 200 is recognized by its bug', async () => {
    await using server = await openCosyvoiceServer({ readsNoClips: true });
    const speaking = say(openEngine(adapter, { baseUrl: server.url }), voice);
    await expect(speaking).rejects.toMatchObject({
      code: 'ENGINE_BAD_REPLY',
      detail: expect.stringContaining('December 2025'),
    });
  });

  it('CosyVoice uses its default voice for an unknown one', async () => {
    await using server = await openCosyvoiceServer({ voices: ['中文女'] });
    const engine = openEngine(adapter, { baseUrl: server.url, version: 1, defaultVoice: '中文女' });
    expect(await say(engine, { kind: 'preset', id: 'martha' })).not.toEqual([]);
    const forms = await Promise.all(server.requests.map((request) => request.form()));
    expect(forms.map((form) => form.get('spk_id'))).toEqual(['martha', '中文女']);
  });

  const { signal } = new AbortController();

  it('doctor recognizes CosyVoice by its routes, and has it speak one word', async () => {
    await using server = await openCosyvoiceServer();
    await expect(openEngine(adapter, { baseUrl: server.url }).check?.({ signal })).resolves.toMatch(
      /CosyVoice.*speaks/,
    );
    expect(server.requests.map(({ path }) => path)).toEqual(['/openapi.json', '/inference_zero_shot']);
  });

  it('doctor does not call a CosyVoice healthy that answers 200 and is mute with every clip', async () => {
    await using server = await openCosyvoiceServer({ readsNoClips: true });
    await expect(openEngine(adapter, { baseUrl: server.url }).check?.({ signal })).rejects.toMatchObject({
      code: 'ENGINE_BAD_REPLY',
      detail: expect.stringContaining('December 2025') as string,
    });
  });

  it('doctor lets a CosyVoice with voices of its own speak with its default voice', async () => {
    await using server = await openCosyvoiceServer({ voices: ['中文女'], readsNoClips: true });
    const engine = openEngine(adapter, { baseUrl: server.url, version: 1, defaultVoice: '中文女' });
    await expect(engine.check?.({ signal })).resolves.toMatch(/speaks/);
  });
});
