import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { wireAgent, type WireAgentSettings } from '../../eval/agents/wire-agent.ts';
import { openAudioStore } from '../../eval/run-folder.ts';
import { parseCsv } from '../../eval/csv.ts';
import { machineClock, openEndpoint } from '../../eval/limits.ts';
import { characterIdOf, instructionsFor, splitPrompt, writePacks } from '../../eval/speechrole/data/character-packs.ts';
import type { DialogueOutput } from '../../eval/speechrole/data/task.ts';
import { readTestData, type DialogueSample } from '../../eval/speechrole/data/test-data.ts';
import { loadCharacters } from '../../characters/character.ts';
import { readWav } from '../../voices/dsp/wav.ts';
import { evaluate } from '../rigs/eval-rig.ts';
import { openRig } from '../rigs/talk-rig.ts';
import { openJudgeServer } from '../fakes/servers/judge-server.ts';
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
      allowFallback: false,
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

  it('a fallback reply after a failed LLM fails the dialogue, which is tried again', async () => {
    await using scratch = await openScratch();
    const standIn = { text: 'Hm.', because: 'ENGINE_TIMEOUT' };
    await using recovering = await openRig({ says: ['First answer.', standIn, 'First again.', 'Second answer.'] });
    const { answers } = await converse(scratch.path, { url: recovering.url }, 1);
    expect(answers.map(({ text, fallback }) => [text, fallback])).toEqual([
      ['First again.', null],
      ['Second answer.', null],
    ]);
    await using failing = await openRig({ says: [standIn] });
    await expect(converse(scratch.path, { url: failing.url }, 1)).rejects.toMatchObject({
      code: 'agent_fallback',
      message: expect.stringContaining('ENGINE_TIMEOUT'),
    });
    expect(failing.engines.agent.asked).toHaveLength(2);
  });

  it('a fallback reply after a failed LLM is kept with `allowFallback`, and marked', async () => {
    await using scratch = await openScratch();
    await using rig = await openRig({ says: [{ text: 'Hm.', because: 'ENGINE_TIMEOUT' }] });
    const { answers } = await converse(scratch.path, { url: rig.url, allowFallback: true });
    expect(answers.map(({ text, fallback }) => [text, fallback])).toEqual([
      ['Hm.', 'ENGINE_TIMEOUT'],
      ['Hm.', 'ENGINE_TIMEOUT'],
    ]);
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

  it('`--persona dramatis` makes the character that the SpeechRole importer makes, without the frame of the benchmark', async () => {
    await using scratch = await openScratch();
    const frame = [
      'I want you to act like Sherlock Holmes from Sherlock-Holmes.',
      'I want you to respond and answer like Sherlock Holmes, using the tone and manner he would use.',
      'You must know all of the knowledge of Sherlock Holmes.',
    ];
    const prompt = `${frame.join('\n')}\nYou are a detective in London.\n\nThe character script below contains context:\n[Character script]\n\nWatson:「Who are you?」\nSherlock Holmes:「A detective, Watson.」`;
    await mkdir(path.join(scratch.path, 'test_data/single_turn'), { recursive: true });
    const row = { dialogue: [{ user: 'Who?', role: 'I.' }], system_prompt: prompt };
    await writeFile(path.join(scratch.path, 'test_data/single_turn/Sherlock Holmes.json'), JSON.stringify([row]));
    const { samples } = await readTestData(scratch.path);
    const folder = path.join(scratch.path, 'characters');
    await writePacks(samples, folder, 'dramatis');
    const [pack] = await loadCharacters(folder);
    expect(pack).toMatchObject({ name: 'Sherlock Holmes', work: { title: 'Sherlock-Holmes' } });
    expect(pack?.profile).toBe('You are a detective in London.');
    expect(JSON.stringify(pack)).not.toMatch(/I want you to|You must know all|As the profile|SpeechRole has it/);
    expect(pack?.lines).toEqual([{ asks: ['Who are you?'], reply: 'A detective, Watson.' }]);
    expect(instructionsFor(samples[0] as (typeof samples)[number], 'dramatis')).not.toContain('I want you to');
  });

  it('roles get valid ids for any name', () => {
    expect(characterIdOf('D_Artagnan')).toMatch(/^speechrole-d-artagnan-[0-9a-f]{8}$/);
    expect(characterIdOf('Frank T.J. Mackey')).toMatch(/^speechrole-frank-t-j-mackey-[0-9a-f]{8}$/);
    // Roles without Latin letters get different characters, too.
    expect(characterIdOf('孙悟空')).toMatch(/^speechrole-[0-9a-f]{8}$/);
    expect(characterIdOf('孙悟空')).not.toBe(characterIdOf('李白'));
    expect(characterIdOf('long '.repeat(40)).length).toBeLessThanOrEqual(64);
  });
});

const unavailable = { text: 'Who knows.', because: 'ENGINE_UNAVAILABLE' };

describe('replies that stand in for a failed LLM', () => {
  it('an evaluation of a system whose LLM is off answers nothing, scores nothing, and fails', async () => {
    await using scratch = await openScratch();
    await using rig = await openRig({ says: [unavailable] });
    await using judge = await openJudgeServer();
    const { data } = await makeJudgedSet(scratch.path, 1);
    const out = path.join(scratch.path, 'run');
    const where = ['--agent', rig.url, '--character', 'alice', '--user-text', '--data', data, '--out', out];
    const judged = ['--judge', `${judge.url}/v1`, '--judge-model', 'ear'];
    const { status, printed } = await evaluate(['run', ...where, ...judged, '--limit', '2', '--retries', '0']);
    expect(status).toBe(1);
    expect(printed).toContain('0 of 2 dialogues answered');
    expect(printed).toMatch(/failed 2 × agent_fallback: single\/.* turn 0: .*ENGINE_UNAVAILABLE/);
    expect(judge.answered).toBe(0);
  });

  it('`--allow-fallback` scores them, and the summary, the report and the CSV count them', async () => {
    await using scratch = await openScratch();
    await using rig = await openRig({ says: [unavailable] });
    const { data } = await makeJudgedSet(scratch.path, 1);
    const out = path.join(scratch.path, 'run');
    const where = ['--agent', rig.url, '--character', 'alice', '--user-text', '--data', data, '--out', out];
    const { printed } = await evaluate(['run', ...where, '--mode', 'multi', '--limit', '1', '--allow-fallback']);
    expect(printed).toContain('1 of 1 dialogues answered');
    expect(printed).toContain('2 replies were fallbacks for the LLM of the system');
    await evaluate(['export', out, '--format', 'csv']);
    const rows = parseCsv(await readFile(path.join(out, 'results.csv'), 'utf8'));
    expect(rows[0]).toMatchObject({ fallbacks: '2' });
    await evaluate(['report', out]);
    expect(await readFile(path.join(out, 'report.html'), 'utf8')).toContain('were fallbacks for the LLM');
  });

  it('a server of ours without an LLM is refused before any dialogue, unless fallbacks are allowed', async () => {
    await using scratch = await openScratch();
    await using rig = await openRig({ says: ['Hm.'] });
    const { data } = await makeJudgedSet(scratch.path, 1);
    const closed: string[] = [];
    const startServer = () =>
      Promise.resolve({ url: rig.url, hasModel: false, close: () => Promise.resolve(void closed.push('server')) });
    const run = ['run', '--data', data, '--out', path.join(scratch.path, 'run'), '--limit', '1'];
    const { status, printed } = await evaluate(run, { startServer });
    expect(status).toBe(2);
    expect(printed).toMatch(/No LLM is configured.*--allow-fallback/);
    expect(closed).toEqual(['server']);
  });
});
