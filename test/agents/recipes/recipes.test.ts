import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../../agents/chat.ts';
import { calmFeelings } from '../../../agents/feelings.ts';
import { actor } from '../../../agents/actor/actor.ts';
import { recipeNames } from '../../../agents/recipe-names.ts';
import { recipeFor, recipes } from '../../../agents/recipes/recipes.ts';
import { estimateTokens } from '../../../agents/llm/token-estimate.ts';
import { loadCharacter } from '../../../characters/character.ts';
import { builtInCharacters } from '../../../server/cast/cast.ts';
import { asHistory, fakeChat, smallCharacter } from '../actor/stand-ins.ts';

const martha = smallCharacter({ mbti: 'ESTJ', scenario: 'The taproom, at night.' });
const wukong = await loadCharacter(path.join(builtInCharacters, 'sun-wukong'));
const talk = ['Hello', 'Good day.', 'Do you have a room?', 'One, with a draught.', 'Is there a ghost?'];

const systemOf = (messages: readonly Message[]): string => messages[0]?.text ?? '';
const rolesOf = (messages: readonly Message[]): string => messages.map(({ role }) => role[0]).join('');

describe.each(recipeNames)('recipe %s', (name) => {
  const prompt = recipeFor(martha, name);

  it.each([
    ['an open talk', []],
    ['a first remark', ['Hello']],
    ['a talk', talk],
    ['a talk that the character opened', ['', 'Come in.', 'Thank you.']],
    ['a talk that the character had the last word in', ['Hello', 'Good day.']],
  ])('a recipe’s prompt is one system message, then strict alternation that ends with the user: %s', (_, said) => {
    const history = asHistory(said).filter(({ text }) => text !== '');
    const { messages } = prompt(history, { scene: 'It rains.' });
    expect(rolesOf(messages)).toMatch(/^s(?:ua)*u$/);
    expect(systemOf(messages)).toMatch(/It rains\./);
    for (const { text } of messages) expect(text).not.toBe('');
  });

  it('a recipe’s prompt is deterministic and names the character', () => {
    expect(prompt(asHistory(talk), {})).toEqual(recipes[name](martha)(asHistory(talk), {}));
    expect(systemOf(prompt(asHistory(talk), {}).messages)).toContain('Martha Greene');
  });

  it('a recipe’s prompt contains the conversation and drops its oldest messages if the budget is short', () => {
    const whole = prompt(asHistory(talk), {})
      .messages.map(({ text }) => text)
      .join('\n');
    for (const said of talk) expect(whole).toContain(said);
    const long = Array.from({ length: 401 }, (_, index) => `Remark number ${index}, rather long, to fill the budget.`);
    const short = prompt(asHistory(long), { historyTokens: 200 });
    const last = short.messages.at(-1)?.text ?? '';
    expect(last).toContain('Remark number 400,');
    expect(short.messages.map(({ text }) => text).join('\n')).not.toContain('Remark number 100,');
  });

  it('a recipe’s prompt for a Chinese character is in Chinese', () => {
    const system = systemOf(recipeFor(wukong, name)(asHistory(['你好']), {}).messages);
    expect(system.match(/\p{Script=Han}/gu)?.length ?? 0).toBeGreaterThan(system.length / 2);
    expect(system).toContain('孙悟空');
  });

  it('a recipe’s prompt for a Chinese character has no English labels, with feelings, functions, a scene and others', () => {
    const feelings = { emotions: { ...calmFeelings.emotions, anger: 9 }, intimacy: 9 };
    const others = [{ name: '八戒', profile: '好吃懒做。' }];
    const given = { scene: '夜里，山脚下。', hasTools: true, feelings, others, motivation: '他想走。' };
    const { messages } = recipeFor(wukong, name)(asHistory(['你好']), given);
    // Tags are the same in all languages, and so is MBTI.
    const text = messages.map((message) => message.text).join('\n');
    expect(text.replaceAll(/\[[a-z]+\]|<\/?notes>|MBTI|[EI][NS][FT][JP]/gu, '').match(/[A-Za-z]{2,}/gu) ?? []).toEqual(
      [],
    );
  });

  it('a recipe’s prompt offers functions if there are some', () => {
    expect(systemOf(prompt(asHistory(talk), { hasTools: true }).messages)).toContain('functions');
  });

  it('an actor sends the prompt of its recipe', async () => {
    const chat = fakeChat(['Good day.']);
    const reply = actor(martha, chat, { recipe: name }).reply(asHistory(talk), { signal: AbortSignal.timeout(5_000) });
    for await (const _ of reply) void _;
    expect(chat.calls[0]?.messages).toEqual(prompt(asHistory(talk), {}).messages);
    expect(chat.calls[0]?.settings).toMatchObject(prompt(asHistory(talk), {}).sampling);
  });
});

describe('recipes against their papers', () => {
  it('rolegpt: an instruction with catchphrases, five exchanges as turns with the nearest last, and 0.7, 0.95, 200 tokens', () => {
    const { messages, sampling, maxTokens } = recipeFor(wukong, 'rolegpt')(asHistory(['你会七十二变吗？']), {});
    expect(rolesOf(messages)).toBe('suauauauauau');
    expect(messages.at(-3)?.text).toMatch(/七十二变/);
    expect([sampling, maxTokens]).toEqual([{ temperature: 0.7, topP: 0.95 }, 200]);
    expect(systemOf(recipeFor(martha, 'rolegpt')([], {}).messages)).toContain('Mind the step.');
  });

  it('rolegpt: there are exactly five examples, ranked only by their questions, even if none has a word of the message', () => {
    const lines = ['rain', 'bread', 'ghosts', 'wages', 'horses', 'the bridge'].map((about, at) => ({
      asks: [`What of ${about}?`],
      reply: at === 5 ? 'Zephyr, zephyr, zephyr.' : `Of ${about} I know enough.`,
    }));
    const keeper = { ...martha, lines };
    const asked = (message: string): string[] =>
      recipeFor(keeper, 'rolegpt')(asHistory([message]), {}).messages.flatMap(({ role, text }) =>
        role === 'user' ? [text] : [],
      );
    expect(asked('Zephyr')).toHaveLength(6);
    expect(asked('Zephyr')).not.toContain('What of the bridge?');
    expect(asked('Are there horses?').at(-2)).toBe('What of horses?');
  });

  it.each(['rolegpt', 'speechrole', 'chatharuhi'] as const)(
    '%s: the prompt describes the character in the second person, if the card does, with its catchphrases',
    (name) => {
      const description2 = 'You keep the Blue Boar on the coach road, and have buried two husbands.';
      const system = systemOf(recipeFor({ ...martha, description2 }, name)(asHistory(talk), {}).messages);
      expect(system).toContain(`${description2} Your catchphrases: "Mind the step."`);
      expect(system).not.toContain(martha.profile);
      expect(systemOf(recipeFor(martha, name)(asHistory(talk), {}).messages)).toContain(martha.profile);
      const told = systemOf(recipeFor(wukong, name)(asHistory(['你好']), {}).messages);
      expect(told).toContain(wukong.description2);
      expect(told).not.toContain(wukong.profile);
    },
  );

  it.each(['rolegpt', 'speechrole', 'chatharuhi'] as const)(
    '%s: the catchphrases of a Chinese character have a Chinese label',
    (name) => {
      expect(systemOf(recipeFor(wukong, name)(asHistory(['你好']), {}).messages)).toContain('你的口头禅：');
    },
  );

  it('speechrole: the model acts as a person of a profession whose description it gets; the conversation is sent unchanged', () => {
    const { messages, sampling } = recipeFor(martha, 'speechrole')(asHistory(talk), {});
    expect(systemOf(messages)).toMatch(/^Act as Martha Greene from Tests/);
    expect(messages.slice(1).map(({ text }) => text)).toEqual(talk);
    expect(sampling).toEqual({});
  });

  it('chatharuhi: classic scenes within 1,500 tokens and 19 chunks, then the conversation as quotes', async () => {
    const holmes = await loadCharacter(path.join(builtInCharacters, 'sherlock-holmes'));
    const remark = 'Tell me about Watson and London and your violin and crime and the game and your brother';
    const { messages } = recipeFor(holmes, 'chatharuhi')(asHistory(['Hello', 'Good day.', remark]), {});
    const scenes = messages[1]?.text ?? '';
    const chunks = scenes.split('###').slice(0, -1);
    expect(chunks.length).toBeGreaterThan(10);
    expect(chunks.length).toBeLessThanOrEqual(19);
    expect(estimateTokens(chunks.join(''))).toBeLessThanOrEqual(1_550);
    expect(chunks[1]).toMatch(/Visitor:「[^」]+」\nSherlock Holmes:「[^」]+」/);
    expect(messages[1]?.text).toMatch(/Visitor:「Hello」$/);
    expect(messages.at(-1)?.text).toBe(`Visitor:「${remark}」`);
  });

  it('chatharuhi: only the words after the character’s own name are kept from the answer, without quotation marks', async () => {
    const chat = fakeChat(['Martha Gr', 'eene:「Mind', ' the step.」\nVisitor:「Why?」\nMartha Greene:「So.」']);
    const signal = AbortSignal.timeout(5_000);
    let said = '';
    for await (const part of actor(martha, chat, { recipe: 'chatharuhi' }).reply(asHistory(['Hello']), { signal }))
      if (part.type === 'text-delta') said += part.text;
    expect(said.trim()).toBe('Mind the step.');
  });

  it('beyond-dialogue: traits, MBTI, manner, scene, six emotions and intimacy', () => {
    const feelings = {
      emotions: { happiness: 1, sadness: 2, disgust: 3, fear: 4, surprise: 5, anger: 6 },
      intimacy: 7,
    };
    const system = systemOf(recipeFor(martha, 'beyond-dialogue')(asHistory(talk), { feelings }).messages);
    for (const part of ['hearty, shrewd', 'ESTJ', 'Broad and quick.', 'The taproom, at night.'])
      expect(system).toContain(part);
    expect(system).toContain('happiness 1, sadness 2, disgust 3, fear 4, surprise 5, anger 6');
    expect(system).toContain('(0 to 10): 7');
    expect(system).toMatch(/world of Tests.*one brief sentence/s);
    expect(system).not.toContain('A stout woman');
  });

  it('ditto: properties, introduction, and refusal of what lies beyond the character’s knowledge', () => {
    const system = systemOf(recipeFor(martha, 'ditto')(asHistory(talk), {}).messages);
    expect(system).toMatch(/Properties:\n- name: Martha Greene\n.*- knows nothing after: 1750/s);
    expect(system).toMatch(/Introduction:\nMartha Greene keeps/);
    expect(system).toMatch(
      /^Answer by your identity\. .*refuse.*Anything with wires\.\n\nYou are Martha Greene: .*Properties/s,
    );
    expect(recipeFor(martha, 'ditto')(asHistory(talk), {}).sampling).toEqual({ topP: 0.8 });
  });

  it('coser: circumstances, the other characters, inner thoughts, and a form with thoughts and actions', () => {
    const others = [{ name: 'Old Tom', profile: 'Ostler, deaf.' }];
    const { messages, sampling, maxTokens } = recipeFor(martha, 'coser')(asHistory(talk), {
      others,
      motivation: 'She wants the stranger gone.',
    });
    const system = systemOf(messages);
    for (const part of [
      'The taproom',
      'Ostler, deaf.',
      'She wants the stranger gone.',
      '[Thoughts]',
      'A grey lady walks',
    ]) {
      expect(system).toContain(part);
    }
    expect(messages[1]?.text).toMatch(/^===Conversation Start===\n\nHello$/);
    expect([sampling, maxTokens]).toEqual([{ temperature: 0 }, 512]);
  });
});
