import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { scriptedAgent } from '../../../agents/scripted/scripted.ts';
import { inFirstPerson } from '../../../agents/scripted/first-person.ts';
import { toPack } from '../../../characters/tavern/to-pack.ts';
import { newCard } from '../../../characters/tavern/card-file.ts';
import { loadCharacters, type Character } from '../../../characters/character.ts';
import { replyParts, smallCharacter, wordsOf } from '../actor/stand-ins.ts';

const packs = await loadCharacters(path.resolve(import.meta.dirname, '../../../characters'));
const martha = smallCharacter();

async function answer(character: Character, ...talk: string[]): Promise<string> {
  return wordsOf(await replyParts(scriptedAgent(character), talk));
}

/** Says these messages in turn; returns the replies. */
async function talk(character: Character, ...messages: string[]): Promise<string[]> {
  const said: string[] = [];
  for (const message of messages) said.push(message, await answer(character, ...said, message));
  return said.filter((_text, index) => index % 2 === 1);
}

describe('scripted replies', () => {
  it.each(packs.map((pack) => [pack.id, pack] as const))(
    'the name and work of a newcomer are heard and remembered by %s',
    async (_id, pack) => {
      const isChinese = pack.languages[0] === 'zh';
      const [introduced, known] = isChinese
        ? await talk(pack, '我叫小明，我是医生。', '我叫什么名字？')
        : await talk(pack, 'My name is Ruth and I am a baker.', 'What is my name?');
      expect(introduced).toMatch(isChinese ? /小明.*医生/u : /Ruth, and a baker/);
      expect(known).toMatch(isChinese ? /小明/u : /Ruth/);
    },
  );

  it('facts of a memory answer questions of users about themselves', async () => {
    const memories = ['They told you 3 days ago: My dog is called Rex.', 'They told you 3 days ago: My name is Ruth.'];
    const ask = async (text: string): Promise<string> =>
      wordsOf(await replyParts(scriptedAgent(martha), [text], { memories }));
    expect(await ask('What is my dog called?')).toContain('My dog is called Rex.');
    expect(await ask('Do you remember my name?')).toContain('Ruth');
    expect(await ask('Where do I live?')).toMatch(/did not tell me|only know/);
  });

  it.each(packs.filter(({ languages }) => languages[0] === 'en').map((pack) => [pack.id, pack] as const))(
    'questions about feelings, others and the user are not answered by lines for something else by %s',
    async (_id, pack) => {
      const said = ["I'm Lena, I'm a student from Vienna.", 'What makes you sad?', 'Where do I come from?'];
      const [, sad, home] = await talk(pack, ...said);
      const ofUsers = pack.lines.filter(({ asks }) => asks.every((ask) => /^(?:I|I'm|My) /.test(ask)));
      expect(ofUsers.map(({ reply }) => reply)).not.toContain(sad);
      expect(home).toContain('student from Vienna');
      const [, names] = await talk(pack, 'Do you have children?', 'What are their names?');
      expect(names).not.toBe(await answer(pack, 'What is your name?'));
    },
  );

  it('a sum is computed, a plea to stop is short, and “it” is asked for', async () => {
    expect(await answer(martha, 'What is seven times six?')).toContain('42');
    expect((await answer(martha, 'Please stop talking for a moment.')).length).toBeLessThan(60);
    expect(await answer(martha, 'How fast does it go?')).toMatch(/“it”|which thing you mean/);
  });

  it('a thing of a later time is unknown, and the user is asked how it works', async () => {
    const [known, works] = await talk(martha, 'Have you got a microwave?', 'How does it work?');
    expect(known).toMatch(/never heard|do not know/);
    expect(works).toMatch(/you must tell me|you explain it/i);
  });

  it('the character speaks about a subject that it offered if the user says yes', async () => {
    const [, offer, told] = await talk(martha, 'What is a xylophone?', 'Who makes xylophones?', 'Yes please');
    const topic = /(?:speak of|ask me about|tell you about) (?<topic>[^.,?]+?)(?: instead)?[.,?]/u.exec(offer ?? '');
    expect(topic?.groups?.['topic']).toBeDefined();
    expect(martha.evasions).not.toContain(told);
  });

  it('sympathy for the character’s loss is no apology', async () => {
    for (const pack of packs.filter(({ languages }) => languages[0] === 'en')) {
      const [, pity] = await talk(pack, 'What happened to your family?', "I'm so sorry.");
      expect(pity).not.toMatch(/forgiven|forgotten|offended|do not apologi[sz]e/);
    }
  });

  it('an explanation of a thing that the character did not know is no view of the character', async () => {
    const [, explained] = await talk(martha, 'Do you know what a unicycle is?', 'You ride it with your feet.');
    expect(explained).not.toMatch(/may be right|think about that|way to see it/);
  });

  it('a misfortune is received with sympathy, and a plain statement with interest', async () => {
    expect(await answer(martha, 'My father left us when I was small.')).toMatch(/sorry|hard/i);
    expect(await answer(martha, 'I painted a shed.')).not.toMatch(/sorry|hard/i);
  });

  it('a second question in a row without an answer gets a line about a subject of the character', async () => {
    const asked = ['Who invented the zip?', 'Is Bolivia large?', 'Who governs Bolivia?'];
    for (const pack of packs.filter(({ id }) => id === 'captain-nemo' || id === 'alice')) {
      const isTold = (await talk(pack, ...asked)).map((text) => pack.lines.some(({ reply }) => text.endsWith(reply)));
      expect(isTold).toEqual([false, true, false]);
    }
  });

  it('a weak keyword does not answer a statement: “I hate Mondays” is no insult', async () => {
    for (const pack of packs.filter(({ languages }) => languages[0] === 'en')) {
      const insulted = await answer(pack, 'I hate you');
      expect(await answer(pack, 'I hate Mondays.')).not.toBe(insulted);
    }
  });

  it('a line answers only a question of its own shape, about the same thing and person', async () => {
    const baker = smallCharacter({
      lines: [
        { asks: ['Who is Ned?', 'Tell me about Ned'], reply: 'Ned is the miller’s boy.' },
        { asks: ['What is your name?'], reply: 'Martha Rowe.' },
        { asks: ['Who built all the mills?'], reply: 'The monks did, long ago.' },
        { asks: ['How is your mother?'], reply: 'Deaf, and cheerful with it.' },
      ],
    });
    expect(await answer(baker, 'Who is Ned?')).toBe('Ned is the miller’s boy.');
    expect(await answer(baker, 'Where is Ned?')).not.toBe('Ned is the miller’s boy.');
    expect((await talk(baker, 'Do you keep a horse?', 'What is his name?'))[1]).not.toBe('Martha Rowe.');
    expect((await talk(baker, 'I like your oven.', 'Who built it?'))[1]).not.toBe('The monks did, long ago.');
    expect(await answer(baker, 'How is my mother?')).not.toBe('Deaf, and cheerful with it.');
  });

  it('what no line fits is declined, or received, by its shape', async () => {
    expect(await answer(martha, 'How many zebras are there?')).toMatch(/number|count|figure/);
    expect(await answer(martha, 'Could you lend me your zebra?')).toMatch(/promise|Not today|would rather not/);
    expect(await answer(martha, 'My zebra broke his leg.')).toMatch(/sorry|hard/i);
    expect(await answer(martha, 'I painted a zebra.')).not.toMatch(/sorry|hard/i);
    expect(await answer(martha, 'You look like a zebra.')).toMatch(/may be right|think about that|way to see it/);
    expect(await answer(martha, 'You should paint it.')).toMatch(/bear that in mind|may be right|think about it/);
  });

  it('“I’m so sorry” after a question is sympathy, and after an insult it is an apology', async () => {
    const [, sympathy] = await talk(martha, 'How did your husband die?', "I'm so sorry.");
    expect(sympathy).toMatch(/weigh on one|good of you/);
    const [, apology] = await talk(martha, 'You are stupid.', "I'm so sorry.");
    expect(apology).not.toBe(sympathy);
  });

  it('a line without the number, the name or the thing asked for is no answer', async () => {
    const sailor = smallCharacter({
      lines: [
        { asks: ['Tell me about your ship', 'Do you like your ship?'], reply: 'She leaks, and she is mine.' },
        { asks: ['Tell me about your crew'], reply: 'Honest men, and thirsty.' },
        { asks: ['Do you have brothers?'], reply: 'Two brothers, both bakers.' },
        { asks: ['Do you like tea?'], reply: 'Hot, if you please.' },
      ],
    });
    expect(await answer(sailor, 'Tell me about your ship.')).toBe('She leaks, and she is mine.');
    expect(await answer(sailor, 'What is the name of your ship?')).not.toBe('She leaks, and she is mine.');
    expect(await answer(sailor, 'How many men are in your crew?')).toMatch(/number|count|figure/);
    expect(await answer(sailor, 'How many brothers do you have?')).toBe('Two brothers, both bakers.');
    expect(await answer(sailor, 'Are you tall or short?')).toMatch(
      /the one or the other|Which of the two|little of both/,
    );
  });

  it('what users said of themselves is recalled, if it has what they ask for', async () => {
    const said = [
      "I'm James, I work in a bank in London.",
      'I play the piano.',
      'I have a dog.',
      "I'm worried about my job.",
    ];
    const recall = async (question: string): Promise<string> => (await talk(martha, ...said, question)).at(-1) ?? '';
    expect(await recall('What city do I work in?')).toContain('a bank in London');
    expect(await recall('Which instrument do I play?')).toContain('I play the piano.');
    expect(await recall('Do you remember what I do?')).toContain('a bank in London');
    expect(await recall('Do I have a dog?')).toContain('I have a dog.');
    expect(await recall("What's my dog called?")).toMatch(/did not tell me|only know/);
    expect((await talk(martha, 'Hello.', 'Where do I live?')).at(-1)).toMatch(/not told me|kept from me/);
  });

  it('sympathy for what befell the character is no apology', async () => {
    const [pity] = await talk(martha, 'I heard that you lost a son. I am sorry.');
    expect(pity).toMatch(/weigh on one|good of you|kindly said/);
    const [hurt] = await talk(martha, 'That must have hurt.');
    expect(hurt).toMatch(/weigh on one|good of you|kindly said/);
  });

  it('what users heard of the character is answered like a question for it', async () => {
    const sailor = smallCharacter({ lines: [{ asks: ['Were you a pirate once?'], reply: 'For a summer.' }] });
    expect(await answer(sailor, 'I read that you used to be a pirate.')).toBe('For a summer.');
    expect(await answer(sailor, 'I heard that you sank a frigate.')).toMatch(
      /heard of that|People will talk|told of me/,
    );
  });

  it('how a feat was done is not answered by asking what “that” means', async () => {
    const seer = smallCharacter({ lines: [{ asks: ['What can you tell about me?'], reply: 'You came by the mill.' }] });
    expect((await talk(seer, 'What can you tell about me?', 'How do you do that?'))[1]).not.toMatch(
      /“that”|which thing/,
    );
  });

  it('a line does not ask for what the user has just said', async () => {
    const host = smallCharacter({ lines: [{ asks: ['Nice to meet you'], reply: 'Welcome. Where are you from?' }] });
    expect(await answer(host, "I'm Ann, I live in Leeds.")).toBe('So you are Ann. Welcome.');
    expect(await answer(host, "I'm Ann.")).toContain('Where are you from?');
  });

  it('a stock reply is repeated, too, if the user asks for it', async () => {
    const [first, again] = await talk(martha, 'I painted a zebra.', 'Sorry, what did you say?');
    expect(again).toBe(first);
  });

  it('a comment returns the question that was asked before', async () => {
    const wife = smallCharacter({ lines: [{ asks: ['Are you married?'], reply: 'Thirty years come May.' }] });
    expect((await talk(wife, 'Are you married?', 'That is interesting.'))[1]).toContain('Are you married?');
  });
});

/** A card of another program, as imported. */
function imported(data: Record<string, unknown>): Character {
  const { card, lines } = toPack(newCard({ name: 'Mara Quill', first_mes: 'Sit down.', ...data }), 'test');
  return { ...card, lines };
}

const mara = imported({
  description:
    '{{char}} is a smuggler of thirty-two who sails the Gull. She lives in Port Ember and works for nobody but ' +
    'herself. She was born on an island. She loves rum and hates the navy. She is afraid of fire.',
  scenario: '{{user}} meets {{char}} in the Drowned Bell, where she is counting coins.',
});

describe('scripted replies of own characters', () => {
  it.each([
    ['Who are you?', /I am Mara Quill\. I am a smuggler/],
    ['What do you do?', /work for nobody but myself/],
    ['Where are we?', /You meet me in the Drowned Bell, where I am counting coins/],
    ['Where were you born?', /I was born on an island/],
    ['How old are you?', /thirty-two/],
    ['What do you like?', /I love rum and hate the navy/],
    ['Do you like rum?', /I love rum/],
    ['What are you afraid of?', /I am afraid of fire/],
    ['Hello!', /Hello/],
    ['Goodbye', /Goodbye|Farewell/],
    ['My dog died.', /sorry/],
  ])('a card with a description only answers “%s”', async (message, reply) => {
    expect(await answer(mara, message)).toMatch(reply);
  });

  it('a card with a lorebook, attributes and example dialogue answers from each', async () => {
    const voss = imported({
      name: 'Doctor Voss',
      description: 'Age: 54\nOccupation: ship’s physician\nDoctor Voss studies alien plants.',
      mes_example: '<START>\n{{user}}: Do you ever sleep?\n{{char}}: With one ear open.',
      character_book: {
        extensions: {},
        entries: [
          {
            keys: ['glowmoss'],
            content: 'Glowmoss shines when somebody lies.',
            extensions: {},
            enabled: true,
            insertion_order: 1,
          },
        ],
      },
    });
    expect(await answer(voss, 'What is glowmoss?')).toBe('Glowmoss shines when somebody lies.');
    expect(await answer(voss, 'How old are you?')).toBe('I am 54.');
    expect(await answer(voss, 'What is your job?')).toMatch(/physician/);
    expect(await answer(voss, 'Do you ever sleep?')).toBe('With one ear open.');
  });

  it('a Chinese card answers in the first person', async () => {
    const yu = imported({
      name: '林小雨',
      description: '林小雨是花店老板。她住在杭州。她的猫叫豆豆。',
      first_mes: '欢迎光临。',
    });
    expect(await answer(yu, '你是谁？')).toBe('我是林小雨。我是花店老板。');
    expect(await answer(yu, '你住在哪里？')).toBe('我住在杭州。');
  });

  it('a description is said in the first person', () => {
    expect(inFirstPerson('Mara keeps an inn, and she never sleeps. Her sister is rich.', 'Mara')).toBe(
      'I keep an inn, and I never sleep. My sister is rich.',
    );
    expect(inFirstPerson('A stout woman of fifty.', 'Mara')).toBe('I am a stout woman of fifty.');
    expect(inFirstPerson('The inn is old.', 'Mara')).toBe('The inn is old.');
  });
});
