import { describe, expect, it } from 'vitest';
import type { CallPolicy } from '../../../voices/calls/call-policy.ts';
import { adapter } from '../../../voices/synthesizers/gpt-sovits.ts';
import { writeWav } from '../../../voices/dsp/wav.ts';
import { synthesizerConformance } from '../../conformance/synthesizer.ts';
import { openGptSovitsServer } from '../../fakes/servers/gpt-sovits-server.ts';
import { tone } from '../../fakes/vad.ts';
import { clipForTests, openEngine, opened, say } from '../../rigs/voice-engine-rig.ts';

const { voice, defaultClip } = await clipForTests();
const route = 'POST /tts';

for (const streamingMode of [0, 1, 3]) {
  synthesizerConformance({
    title: `gpt-sovits (streaming mode ${streamingMode})`,
    voice,
    behindServer: true,
    oneAtATime: true,
    open: async (care?: CallPolicy) =>
      opened(adapter, { streamingMode, defaultClip }, { server: await openGptSovitsServer(), route, care }),
    atRate: async (sampleRate) =>
      opened(adapter, { streamingMode, defaultClip }, { server: await openGptSovitsServer({ sampleRate }), route }),
  });
}

describe('GPT-SoVITS', () => {
  it('GPT-SoVITS gets the path of the clip on its own disk, and its transcript', async () => {
    await using server = await openGptSovitsServer({ clips: ['/refs/martha.wav'] });
    const engine = openEngine(adapter, { baseUrl: server.url, serverDirectory: '/refs/', extra: { top_k: 5 } });
    expect(await say(engine, voice, { language: 'zh-Hans', speed: 1.2 })).not.toEqual([]);
    expect(server.requests[0]?.json()).toEqual({
      text: 'Mind the step.',
      text_lang: 'zh',
      ref_audio_path: '/refs/martha.wav',
      prompt_text: 'I keep the house.',
      prompt_lang: 'en',
      text_split_method: 'cut0',
      media_type: 'wav',
      streaming_mode: 1,
      speed_factor: 1.2,
      top_k: 5,
    });
  });

  it('GPT-SoVITS detects the language by itself if it does not know the requested one', async () => {
    await using server = await openGptSovitsServer();
    await say(openEngine(adapter, { baseUrl: server.url }), voice, { language: 'de' });
    expect(server.requests[0]?.json()).toMatchObject({ text_lang: 'auto' });
  });

  it('GPT-SoVITS that does not find the clip fails with a hint at its log', async () => {
    await using server = await openGptSovitsServer({ clips: [] });
    const speaking = say(openEngine(adapter, { baseUrl: server.url }), voice);
    await expect(speaking).rejects.toMatchObject({ code: 'ENGINE_BAD_REPLY', detail: expect.stringContaining('log') });
  });

  it('GPT-SoVITS that answers an error with a second of silence is not believed', async () => {
    await using server = await openGptSovitsServer({ stumbles: true });
    const speaking = say(openEngine(adapter, { baseUrl: server.url }), voice);
    await expect(speaking).rejects.toMatchObject({
      code: 'ENGINE_BAD_REPLY',
      detail: expect.stringContaining('failed on this text'),
    });
  });

  it.each([
    [2_000, 'requires at least 3 s'],
    [11_000, 'accepts 3 to 10 s'],
  ])('GPT-SoVITS gets no clip of %i ms, which it would refuse in mid-reply', async (ms, says) => {
    await using server = await openGptSovitsServer();
    const wavPath = voice.wavPath.replace('martha', `clip-${ms}`);
    await writeWav(wavPath, tone(ms, 16_000), 16_000);
    const speaking = say(openEngine(adapter, { baseUrl: server.url }), { ...voice, wavPath });
    await expect(speaking).rejects.toMatchObject({ code: 'ENGINE_REFUSED', detail: expect.stringContaining(says) });
    expect(server.requests).toEqual([]);
  });

  it('GPT-SoVITS without a clip says what to do', async () => {
    await using server = await openGptSovitsServer();
    const speaking = say(openEngine(adapter, { baseUrl: server.url }), { kind: 'preset', id: 'martha' });
    await expect(speaking).rejects.toMatchObject({ detail: expect.stringContaining('"references"') });
  });

  it('doctor does not fail a healthy GPT-SoVITS, whose GET without parameters is an internal error', async () => {
    await using server = await openGptSovitsServer();
    const { signal } = new AbortController();
    await expect(openEngine(adapter, { baseUrl: server.url }).check?.({ signal })).resolves.toMatch(/ responds$/);
    await expect(openEngine(adapter, { baseUrl: `${server.url}/v1` }).check?.({ signal })).rejects.toMatchObject({
      status: 404,
    });
  });
});
