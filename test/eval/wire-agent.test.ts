import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { wireAgent, type WireAgentSettings } from '../../eval/agents/wire-agent.ts';
import { openAudioStore } from '../../eval/audio-store.ts';
import { machineClock } from '../../eval/clock.ts';
import { openEndpoint } from '../../eval/endpoint.ts';
import { characterIdOf, instructionsFor, splitPrompt, writePacks } from '../../eval/speechrole/data/character-packs.ts';
import type { DialogueOutput } from '../../eval/speechrole/data/answers.ts';
import { readTestData, type DialogueSample } from '../../eval/speechrole/data/test-data.ts';
import { loadCharacters } from '../../characters/character.ts';
import { readWav } from '../../voices/dsp/wav.ts';
import { openRig } from '../rigs/talk-rig.ts';
import { openRealtimeServer } from '../fakes/servers/realtime-server.ts';
import { makeJudgedSet } from './judged-set.ts';
import { openScratch } from './scratch.ts';

const script = '\n\nThe character script below contains context:\n[Character script]\n\nTHOR: Indeed.';

function multi(samples: readonly DialogueSample[]): DialogueSample {
  const found = samples.find(({ input }) => input.mode === 'multi') as DialogueSample;
  return { ...found, input: { ...found.input, systemPrompt: found.input.systemPrompt + script } };
}

/** One dialogue of two turns with a server: its result, and the store of its audio. */
async function converse(
  folder: string,
  where: Pick<WireAgentSettings, 'url'> & Partial<WireAgentSettings>,
  retries = 0,
): Promise<DialogueOutput> {
  const { data } = await makeJudgedSet(folder, 1);
  const sample = multi((await readTestData(data)).samples);
  const endpoint = openEndpoint(
    'agent',
    { concurrency: 1, retries, firstPauseMs: 1 },
    { clock: machineClock, random: () => 0 },
  );
  const agent = wireAgent(
    {
      name: 'ours',
      modelFor: () => 'alice',
      instructionsFor: (each) => each.input.systemPrompt,
      tellsLanguage: true,
      userText: false,
      teacherForced: false,
      speed: 50,
      ...where,
    },
    endpoint,
    machineClock,
  );
  const { signal } = new AbortController();
  return agent.answer(sample, {
    signal,
    audio: openAudioStore(path.join(folder, 'audio')),
    throwIfStopped: () => undefined,
    spend: () => undefined,
  });
}

const texts = (history: readonly { readonly role: string; readonly text: string }[] | undefined): string[] =>
  (history ?? []).filter(({ role }) => role !== 'system').map(({ role, text }) => `${role}: ${text}`);

describe('dialogue with a server', () => {
  it('the wire agent streams the recordings, keeps the agent’s own replies as history, and stores all it received', async () => {
    await using scratch = await openScratch();
    await using rig = await openRig({
      hears: ['first question', 'second question'],
      says: ['First answer.', 'Second answer.'],
    });
    const { answers, system } = await converse(scratch.path, { url: rig.url });
    expect(system).toEqual({ model: 'alice', voice: 'alice', engines: { vad: rig.engines.vad.name } });
    expect(answers.map(({ text, heard, mind }) => [text, heard, mind])).toEqual([
      ['First answer.', 'first question', 'fake-mind'],
      ['Second answer.', 'second question', 'fake-mind'],
    ]);
    expect(texts(rig.engines.agent.histories[1])).toEqual([
      'user: first question',
      'assistant: First answer.',
      'user: second question',
    ]);
    expect(rig.engines.agent.asked[0]?.scene).toContain('I want you to act like hutao');
    const sound = await readWav(await readFile(path.join(scratch.path, 'audio', `${answers[0]?.audio}.wav`)));
    expect(sound.samples.length / sound.sampleRate).toBeCloseTo(answers[0]?.seconds as number, 3);
    expect(answers[0]?.latency).toMatchObject({ basis: 'speech_end' });
    expect(answers[0]?.firstAudioMs).toBeGreaterThanOrEqual(0);
  });

  it('the wire agent may continue from the reference’s replies, and may send text', async () => {
    await using scratch = await openScratch();
    await using rig = await openRig({ says: ['First answer.', 'Second answer.'] });
    const { answers } = await converse(scratch.path, { url: rig.url, teacherForced: true, userText: true });
    expect(answers.map(({ text }) => text)).toEqual(['First answer.', 'Second answer.']);
    expect(texts(rig.engines.agent.histories[1])).toEqual([
      'user: Question 1 for hutao?',
      'assistant: As I always say.',
      'user: Question 2 for hutao?',
    ]);
  });

  it('the wire agent repeats a dialogue after a transient LLM failure, and gives up if the server lacks the character', async () => {
    await using scratch = await openScratch();
    await using rig = await openRig({ says: [new Error('a moment of weakness'), 'First answer.', 'Second answer.'] });
    const { answers } = await converse(scratch.path, { url: rig.url }, 2);
    expect(answers).toHaveLength(2);
    const nobody = converse(scratch.path, { url: rig.url, modelFor: () => 'nobody' }, 2);
    await expect(nobody).rejects.toMatchObject({ code: 'ENGINE_REFUSED' });
  });

  it('the wire agent works with any OpenAI Realtime server', async () => {
    await using scratch = await openScratch();
    await using server = await openRealtimeServer('Good evening.');
    const { answers } = await converse(scratch.path, {
      url: `${server.url.replace('http', 'ws')}/v1/realtime`,
      userText: true,
      tellsLanguage: false,
      voice: 'marin',
    });
    expect(answers.map(({ text, heard }) => [text, heard])).toEqual([
      ['Good evening.', null],
      ['Good evening.', null],
    ]);
    expect(answers[0]?.seconds).toBeGreaterThan(0.1);
    expect(server.told[0]).toMatchObject({
      session: { audio: { input: { turn_detection: null }, output: { voice: 'marin' } } },
    });
  });
});

describe('roles as characters', () => {
  it('roles become packs that the server reads: with the prompt verbatim, or as our character with the script as scene', async () => {
    await using scratch = await openScratch();
    const { data } = await makeJudgedSet(scratch.path, 3);
    const { samples } = await readTestData(data);
    for (const persona of ['benchmark', 'dramatis'] as const) {
      const folder = path.join(scratch.path, persona);
      const ids = await writePacks(samples, folder, persona);
      const packs = await loadCharacters(folder);
      expect(packs.map(({ id }) => id).toSorted()).toEqual([...ids.values()].toSorted());
      expect(packs[0]?.persona).toBe(persona === 'benchmark' ? 'instructions' : undefined);
    }
    const sample = multi(samples);
    expect(instructionsFor(sample, 'benchmark')).toBe(sample.input.systemPrompt);
    expect(instructionsFor(sample, 'dramatis')).toMatch(/^The character script below/);
    expect(splitPrompt(sample.input.systemPrompt).profile).toBe(
      'I want you to act like hutao from somewhere.\nBe brief.',
    );
  });

  it('roles get valid ids, whatever they are called', () => {
    expect(characterIdOf('D_Artagnan')).toBe('speechrole-d-artagnan');
    expect(characterIdOf('Frank T.J. Mackey')).toBe('speechrole-frank-t-j-mackey');
    expect(characterIdOf('HAL 9000')).toBe('speechrole-hal-9000');
  });
});
