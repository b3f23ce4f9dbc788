import { describe, expect, it } from 'vitest';
import type { TextAgent } from '../../../eval/agents/text-agent.ts';
import { actScene, type ActedScene } from '../../../eval/coser/acting.ts';
import { loadCircumstances, type Circumstance } from '../../../eval/coser/circumstances.ts';
import { coserConfigSchema, type CoserConfig } from '../../../eval/coser/config.ts';
import { cutRepetition, transcriptOf, withoutThoughts } from '../../../eval/coser/messages.ts';
import { strictSpeaker, tolerantSpeaker } from '../../../eval/coser/next-speaker.ts';
import { sceneScores } from '../../../eval/coser/scores.ts';
import { rougeL } from '../../../eval/text-metrics/rouge-l.ts';
import { openRecall, piecesOf } from '../../../eval/coser/recall.ts';
import { coserTask } from '../../../eval/coser/task.ts';
import { openAudioStore } from '../../../eval/run-folder.ts';
import type { Judge, JudgeQuestion } from '../../../eval/judge/judge.ts';
import type { EvalContext } from '../../../eval/task.ts';
import { openPrompts } from '../../../eval/text/prompts.ts';
import { openScratch } from '../scratch.ts';
import { writeScenes } from './small-scenes.ts';

const signal = new AbortController().signal;
const context: EvalContext = {
  signal,
  audio: openAudioStore('/nowhere'),
  throwIfStopped: () => undefined,
  spend: () => undefined,
};
const prompts = openPrompts(coserTask.promptFiles, undefined);

/** A model that answers by a function, and keeps what it was asked. */
function model(answer: (question: JudgeQuestion, nth: number) => string): Judge & { readonly asked: JudgeQuestion[] } {
  const asked: JudgeQuestion[] = [];
  return {
    name: 'scripted',
    dialect: 'openai',
    asked,
    async ask(question) {
      asked.push(question);
      const text = answer(question, asked.length - 1);
      return { text, refusal: null, finish: 'stop', model: null, inputTokens: null, outputTokens: null };
    },
  };
}

interface Heard {
  readonly role: string;
  readonly system: string;
  readonly texts: string[];
}

/** Characters that say who they are, with a thought; `heard` is what each was given. */
function actors(): TextAgent & { readonly heard: Heard[] } {
  const heard: Heard[] = [];
  return {
    name: 'actors',
    heard,
    attempt: (work, within) => work(within),
    async open({ role, system = '' }) {
      const texts: string[] = [];
      heard.push({ role, system, texts });
      return {
        about: null,
        remember: (who, text) => void texts.push(`${who}: ${text}`),
        async say(text) {
          texts.push(text);
          const said = `[secret of ${role}] (nods) I am ${role}, number ${texts.length}.`;
          return { text: said, heard: null, audio: null, firstAudioMs: null, fallback: null };
        },
        [Symbol.asyncDispose]: () => Promise.resolve(),
      };
    },
  };
}

async function scenes(more: Partial<CoserConfig> = {}): Promise<{ facts: Circumstance[]; config: CoserConfig }> {
  await using scratch = await openScratch();
  const { data } = await writeScenes(scratch.path);
  const config = { ...coserConfigSchema.parse({ data, agent: 'none' }), ...more };
  return { facts: await Array.fromAsync((await loadCircumstances(config)).samples()), config };
}

async function act(
  next: (nth: number) => string,
  more: Partial<CoserConfig> = {},
): Promise<{ scene: ActedScene; heard: Heard[]; chooser: ReturnType<typeof model> }> {
  const { facts, config } = await scenes(more);
  const agent = actors();
  const chooser = model((_, nth) => next(nth));
  const world = model(() => 'Rain begins. [not a thought]');
  const models = new Map([
    ['environment', world],
    ['next-speaker', chooser],
  ]);
  const stage = { systems: { agent, models, prompts }, config, context, recall: undefined };
  const scene = await actScene(facts[0] as Circumstance, stage);
  return { scene, heard: agent.heard, chooser };
}

const inTurn = (nth: number): string => `They talk.\nNext Speaker: ${['Ada', 'Ben', 'Environment'][nth % 3]}`;

describe('acting a scene of CoSER', () => {
  it('begins with who opens the original, lets the model choose, and ends after twenty messages', async () => {
    const { scene } = await act(inTurn);
    expect(scene.messages.map(({ character }) => character).slice(0, 5)).toEqual([
      'Ben',
      'Ada',
      'Ben',
      'Environment',
      'Ada',
    ]);
    expect(scene.messages).toHaveLength(20);
    expect(scene.choices.every(({ isValid }) => isValid)).toBe(true);
  });

  it('begins with who says most, as the released code does, if it is asked to', async () => {
    const { scene } = await act(inTurn, { firstSpeaker: 'reference' });
    expect(scene.messages[0]?.character).toBe('Ada');
  });

  it('keeps the thoughts of a character from all others', async () => {
    const { heard, chooser } = await act(inTurn, { rounds: 8 });
    const ada = heard.find(({ role }) => role === 'Ada');
    expect(ada?.texts[0]).toBe('===Conversation Start===\n\n\n\nBen: (nods) I am Ben, number 1.');
    for (const { role, texts } of heard)
      for (const text of texts) expect(text).not.toContain(role === 'Ada' ? 'secret of Ben' : 'secret of Ada');
    expect(JSON.stringify(chooser.asked)).not.toContain('secret of');
    // What happens around the characters is no thought, whatever its brackets.
    expect(JSON.stringify(ada?.texts)).toContain('Environment: Rain begins. [not a thought]');
    expect(ada?.system).toContain('Ada wants the truth');
    expect(ada?.system).not.toContain('Ben ate the pie');
  });

  it('ends a scene at <END CHAT> only after six messages', async () => {
    const { scene } = await act(() => '<END CHAT>');
    expect(scene.messages).toHaveLength(6);
    expect(scene.choices.map(({ isValid }) => isValid)).toEqual([false, false, false, false, false, true]);
  });

  it('leaves an impossible next speaker to chance, the same in every run', async () => {
    const runs = await Promise.all([act(() => 'Napoleon'), act(() => 'Napoleon')]);
    const [first, second] = runs.map(({ scene }) => scene.messages.map(({ character }) => character));
    expect(first).toEqual(second);
    expect(first).toHaveLength(20);
    for (const [at, name] of (first ?? []).entries()) expect(name).not.toBe(first?.[at + 1]);
    const other = await act(() => 'Napoleon', { seed: 2 });
    expect(other.scene.messages.map(({ character }) => character)).not.toEqual(first);
  });

  it('continues from the first k messages with the speakers of the original', async () => {
    const { scene, heard } = await act(inTurn, { continueFrom: 3, rounds: 6 });
    expect(scene.messages.map(({ character, isGiven }) => [character, isGiven])).toEqual([
      ['Ben', true],
      ['Ada', true],
      ['Ada', true],
      ['Environment', false],
      ['Ada', false],
      ['Ben', false],
    ]);
    const ada = heard.find(({ role }) => role === 'Ada');
    expect(ada?.texts[1]).toContain('assistant: [He has crumbs on his sleeve.] Where is the pie, Ben?');
  });

  it('scores of a continued scene what follows the first k messages, on both sides', async () => {
    const more = { continueFrom: 3, rounds: 9 };
    const { scene } = await act(inTurn, more);
    const { facts, config } = await scenes(more);
    const [circumstance] = facts as [Circumstance];
    const scores = sceneScores(circumstance, scene, config);
    const [ours, theirs] = [scene.messages, circumstance.reference].map((list) => transcriptOf(list.slice(3)));
    const expected = rougeL(ours ?? '', [theirs ?? ''], { tokens: 'marks', references: 'first' });
    expect(scores.find(({ name }) => name === 'rouge-l')?.value).toBe(expected);
    const whole = sceneScores(circumstance, scene, { ...config, continueFrom: 0 });
    expect(whole.find(({ name }) => name === 'rouge-l')?.value).toBeGreaterThan(expected ?? 1);
  });

  it('asks for thoughts, or for none if they are not wanted', async () => {
    const systemOf = async (more: Partial<CoserConfig>): Promise<string> =>
      (await act(inTurn, { rounds: 2, ...more })).heard[0]?.system ?? '';
    expect(await systemOf({})).toMatch(/\[.*thought.*\]/i);
    expect(await systemOf({ withoutThoughts: true })).not.toMatch(/\[.*thought.*\]/i);
  });

  it('fails the scene if a character says nothing', async () => {
    const { facts, config } = await scenes();
    const silent = actors();
    const stage = {
      systems: {
        agent: {
          ...silent,
          open: async (scene: never, within: never) => ({
            ...(await silent.open(scene, within)),
            say: async () => ({ text: ' ', heard: null, audio: null, firstAudioMs: null, fallback: null }),
          }),
        },
        models: new Map([
          ['next-speaker', model((_, nth) => inTurn(nth))],
          ['environment', model(() => 'Rain.')],
        ]),
        prompts,
      },
      config,
      context,
      recall: undefined,
    };
    await expect(actScene(facts[0] as Circumstance, stage)).rejects.toThrow('has said nothing');
  });
});

describe('the next speaker in an answer', () => {
  const names = ['King Lear', 'The Fool', 'Environment'];
  it.each([
    ['**Next Speaker:** King Lear', 'King Lear'],
    ['Next Speaker: **King Lear**', 'King Lear'],
    ['1. Reasoning: he is angry.\n2. Next Speaker: "King Lear"', 'King Lear'],
    ['The Fool', 'The Fool'],
    ['The scene is over.\nNext Speaker: <END CHAT>', '<END CHAT>'],
    ['random', ''],
    ['King Lear has spoken.\nNext Speaker: random', ''],
    ['Napoleon', ''],
  ])('%j is %j', (answer, name) => expect(tolerantSpeaker(answer, names)).toBe(name));

  it.each([
    ['**Next Speaker:** King Lear', ':'],
    ['**Next Speaker**: King Lear', 'King Lear'],
    ['Next Speaker: King Lear.', 'King Lear'],
    ['Next Speaker: "King Lear"', '"King Lear'],
    ['King Lear', 'King Lear'],
  ])('%j is %j for the released code', (answer, name) => expect(strictSpeaker(answer)).toBe(name));
});

describe('messages and what is recalled', () => {
  it('loses thoughts and reasoning, and keeps speech and actions', () => {
    expect(withoutThoughts('[why?] (sits)\n\nYes. [no]')).toBe('(sits)\nYes.');
    expect(withoutThoughts('<think>hm</think>Well.')).toBe('Well.');
    expect(transcriptOf([{ character: 'Ada', text: '[x] Ada: hello' }])).toBe('Ada: hello');
    expect(transcriptOf([{ character: 'Ada', text: '[x] hello' }], { bare: true })).toBe('hello');
  });

  it('cuts a reply where it begins to repeat itself', () => {
    const phrase = 'we sail at dawn tomorrow';
    expect(cutRepetition(`Listen: ${`${phrase} `.repeat(5)}`)).toBe(`Listen: ${phrase}`);
    expect(cutRepetition('No, no, no, no, no, no.')).toBe('No, no, no, no, no, no.');
    expect(cutRepetition(`Ha ${'a'.repeat(120)}`)).toBe('Ha');
  });

  it('leaves the held-out plots out of what characters recall, unless it is asked for the leak', async () => {
    await using scratch = await openScratch();
    const { data, books } = await writeScenes(scratch.path);
    const recalled = async (leaky: boolean): Promise<string | undefined> => {
      const config = coserConfigSchema.parse({ data, agent: 'none', books, retrieval: 'expr3-conv1', leaky });
      const wanted = { book: 'Alba', plot: 2, character: 'Ada', query: 'Who ate the pie?' };
      return openRecall(config)?.(wanted);
    };
    expect(await recalled(false)).not.toContain('The pie is gone');
    expect(await recalled(false)).toContain('Ada burns a pie in a storm');
    expect(await recalled(false)).not.toContain('hidden');
    expect(await recalled(true)).toContain('I ate the pie');
  });

  it('cuts long documents into pieces of 1000 characters that overlap', () => {
    const text = Array.from({ length: 400 }, (_, at) => `word${at}`).join(' ');
    const pieces = piecesOf(text);
    expect(pieces.every((piece) => piece.length <= 1_000)).toBe(true);
    expect(pieces[1]?.startsWith('word')).toBe(true);
    expect(pieces[0]).toContain(pieces[1]?.slice(0, 150) ?? '-');
  });
});
