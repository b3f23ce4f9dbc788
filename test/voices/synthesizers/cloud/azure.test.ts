import { describe, expect, it } from 'vitest';
import type { CallCost } from '../../../../voices/calls/calls.ts';
import type { CallPolicy } from '../../../../voices/calls/call-policy.ts';
import { adapter } from '../../../../voices/synthesizers/cloud/azure.ts';
import { synthesizerConformance } from '../../../conformance/synthesizer.ts';
import { behind, secretKey } from '../../../conformance/upstream.ts';
import {
  azureRoute,
  azureVoice,
  openAzureServer,
  type AzureOptions,
  type AzureServer,
} from '../../../fakes/servers/cloud/azure-server.ts';
import { openEngine, promptly, say } from '../../../rigs/voice-engine-rig.ts';
import { phrasesOf } from '../../../fakes/spoken.ts';
import { heardIn } from './heard.ts';

const voice = { kind: 'preset', id: azureVoice } as const;
const text = 'Mind the step, it is quite steep.';

function openAzure(server: AzureServer, care?: CallPolicy, log?: (cost: CallCost) => void, given = {}) {
  return openEngine(adapter, { baseUrl: server.url, ...given }, promptly(care), log);
}

synthesizerConformance({
  title: 'azure',
  voice,
  behindServer: true,
  atRate: 'it is asked for 24 kHz',
  open: async (care) => {
    const server = await openAzureServer();
    return behind(openAzure(server, care), server, azureRoute);
  },
});

async function spoken(options: AzureOptions = {}) {
  await using server = await openAzureServer(options);
  return await say(openAzure(server, { retries: 0 }), voice, { text });
}

const ssmlIn = ({ told }: AzureServer): string[] => told.filter(({ path }) => path === 'ssml').map(({ body }) => body);

describe('azure', () => {
  it('azure’s own times of words and visemes go with the audio', async () => {
    const heard = heardIn(await spoken());
    expect(heard.text).toBe(text);
    expect(heard.words).toEqual(text.split(' ').map((word, index) => [word, index * 60]));
    expect(heard.bases).toEqual(['engine']);
    expect(heard.shapes.slice(0, 5)).toEqual(['PP 0', 'aa 20', 'PP 40', 'aa 80', 'PP 100']);
    // The end of the last sound, 420, is not known before the next audio; a gap below 60 ms belongs to it.
    expect(heard.shapes.at(-1)).toBe('sil 450');
    // A viseme says which sounds look like it, and not which one it was.
    expect(heard.sounds).toEqual([]);
  });

  it('azure gets its text as SSML, with nothing in it that could be markup', async () => {
    await using server = await openAzureServer();
    const engine = openAzure(server);
    await say(engine, voice, { text: 'Salt & <break/>\u0007"pepper"', language: 'en-GB', speed: 1.25 });
    const { signal } = new AbortController();
    await Array.fromAsync(engine.speak(phrasesOf('So.'), { signal, voice }));
    const speak =
      '<speak version="1.0" xmlns="http://www.w3.org/2001/10/synthesis" xmlns:mstts="http://www.w3.org/2001/mstts"';
    expect(ssmlIn(server)).toEqual([
      `${speak} xml:lang="en-GB"><voice name="${azureVoice}"><prosody rate="+25%">Salt &amp; &lt;break/&gt; &quot;pepper&quot;</prosody></voice></speak>`,
      `${speak} xml:lang="en-US"><voice name="${azureVoice}">So.</voice></speak>`,
    ]);
    expect(server.requests[0]?.headers['ocp-apim-subscription-key']).toBe(secretKey);
  });

  it('azure’s emotions are styles of the voice', async () => {
    await using server = await openAzureServer();
    async function* felt() {
      yield { text: 'Oh no.', emotion: 'sad' };
    }
    const { signal } = new AbortController();
    await Array.fromAsync(openAzure(server).speak(felt(), { signal, voice }));
    expect(ssmlIn(server)[0]).toContain('<mstts:express-as style="sad">Oh no.</mstts:express-as>');
  });

  it.each([
    [1007, 'ENGINE_REFUSED', 'has the voice'],
    [4429, 'ENGINE_UNAVAILABLE', 'quota'],
    [1011, 'ENGINE_UNAVAILABLE', 'in the middle'],
  ])('azure’s close code %i is reported as %s', async (closesWith, code, word) => {
    const detail = expect.stringContaining(word) as string;
    await expect(spoken({ closesWith })).rejects.toMatchObject({ code, detail });
  });

  it('one azure connection serves texts one after another, and is configured once', async () => {
    await using server = await openAzureServer();
    const engine = openAzure(server);
    for (const _time of [1, 2]) expect(await say(engine, voice)).not.toEqual([]);
    const turn = ['synthesis.context', 'ssml'];
    expect(server.told.map(({ path }) => path)).toEqual(['speech.config', ...turn, ...turn]);
    expect(server.connections).toBe(1);
    await engine.close?.();
  });

  it('azure asks for an unknown voice once, then for the default one at once', async () => {
    await using server = await openAzureServer();
    const engine = openAzure(server);
    for (const _time of [1, 2]) expect(await say(engine, { kind: 'preset', id: 'en-US-Nobody' })).not.toEqual([]);
    const voices = ssmlIn(server).map((ssml) => /<voice name="([^"]*)"/.exec(ssml)?.[1]);
    expect(voices).toEqual(['en-US-Nobody', azureVoice, azureVoice]);
  });

  it('azure’s calls are logged with their cost', async () => {
    await using server = await openAzureServer();
    const costs: CallCost[] = [];
    await say(
      openAzure(server, {}, (cost) => costs.push(cost)),
      voice,
      { text },
    );
    expect(costs).toMatchObject([{ outcome: 'ok', characters: text.length, audioSeconds: 0.48 }]);
  });

  it('doctor checks the key of azure, and the default voice, unless a deployment has it', async () => {
    await using server = await openAzureServer();
    const { signal } = new AbortController();
    const checked = (given = {}) => openAzure(server, {}, undefined, given).check?.({ signal });
    await expect(checked()).resolves.toContain(azureVoice);
    const detail = expect.stringContaining('defaultVoice') as string;
    await expect(checked({ defaultVoice: 'nobody' })).rejects.toMatchObject({ code: 'ENGINE_REFUSED', detail });
    await expect(checked({ defaultVoice: 'OurNeural', deployment: 'd-1' })).resolves.toContain('accepts the key');
    server.breaks({ kind: 'status', status: 401 });
    await expect(checked()).rejects.toMatchObject({ code: 'ENGINE_REFUSED' });
  });
});
