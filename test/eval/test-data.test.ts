import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkData } from '../../eval/speechrole/data/data-check.ts';
import { openOutputs } from '../../eval/agents/stored-agent.ts';
import { readTestData, roleNameOf } from '../../eval/speechrole/data/test-data.ts';
import { openScratch } from './scratch.ts';

async function put(folder: string, files: Readonly<Record<string, unknown>>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const place = path.join(folder, name);
    await mkdir(path.dirname(place), { recursive: true });
    await writeFile(place, typeof content === 'string' ? content : JSON.stringify(content));
  }
}

const dialogue = (speech: object, name = 'Dr. Frank-N-Furter from Rocky-Horror.'): object => ({
  dialogue: [{ user: 'Who are you?', role: ' A sweet one.', ...speech }],
  context: 'script',
  system_prompt: `I want you to act like ${name}\nMore.\n\nscript`,
  category: 'Opinion and Emotion Inquiry',
});
const released = {
  user_speech_path: 'test_data/single_turn_speech/x/1_user.wav',
  role_speech_path: 'test_data/single_turn_speech/x/1_role.wav',
};

describe('test data', () => {
  it('test data is read with paths relative to its parent folder, and roles as their files are named', async () => {
    await using scratch = await openScratch();
    await put(scratch.path, {
      'test_data/single_turn/Dr. Frank-N-Furter.json': [dialogue(released), dialogue(released)],
      'test_data/multi_turn/Frank T.J. Mackey.json': [dialogue(released, 'Frank T.J. Mackey from Magnolia.')],
      'test_data/single_turn_speech/x/1_user.wav': 'sound',
      'test_data/single_turn_speech/x/1_role.wav': 'sound',
    });
    for (const folder of [scratch.path, path.join(scratch.path, 'test_data')]) {
      const { samples, problems } = await readTestData(folder);
      expect(problems).toEqual([]);
      expect(samples.map(({ id }) => id)).toEqual([
        'single/Dr. Frank-N-Furter/0',
        'single/Dr. Frank-N-Furter/1',
        'multi/Frank T.J. Mackey/0',
      ]);
      expect(samples[0]?.input.turns[0]?.speech).toBe(
        path.join(scratch.path, 'test_data/single_turn_speech/x/1_user.wav'),
      );
      expect(samples[0]?.target.turns[0]?.text).toBe(' A sweet one.');
    }
  });

  it('test data may have three references, one of which is chosen, and ignores audio inside', async () => {
    await using scratch = await openScratch();
    const speech = { user_speech_path: 'u.wav', role_speech_path1: 'r1.wav', role_speech_path2: 'r2.wav' };
    const inside = { user_speech_base64: 'data:audio/wav;base64,AAAA' };
    await put(scratch.path, {
      'test_data/single_turn/Thor.json': [dialogue({ ...speech, ...inside }, 'Thor from Thor-Ragnarok.')],
      'test_data/multi_turn/Thor.json': [dialogue(released, 'Thor from Thor-Ragnarok.')],
    });
    const chosen = async (reference?: string): Promise<(string | undefined)[]> => {
      const { samples } = await readTestData(scratch.path, { reference });
      return samples.map(({ target }) => path.basename(target.turns[0]?.speech ?? ''));
    };
    expect(await chosen()).toEqual(['r1.wav', '1_role.wav']);
    expect(await chosen('role_speech_path2')).toEqual(['r2.wav', '1_role.wav']);
  });

  it('missing, broken and mislabelled test data is reported by name', async () => {
    await using scratch = await openScratch();
    await put(scratch.path, {
      'test_data/single_turn/Raylan Givens.json': [dialogue(released, 'Blair Waldorf from Gossip_Girl.')],
      'test_data/single_turn/Judy Hoops.json': [dialogue(released, 'Judy Hopps from Zootopia.')],
      'test_data/single_turn/hutao.json': [dialogue(released, '胡桃 from 原神(Genshin Impact).')],
      'test_data/single_turn/Thor.json': '{"not": "a list"}',
      'test_data/single_turn_speech/x/1_user.wav': 'sound',
    });
    const check = await checkData(scratch.path);
    const about = (word: string): string[] => check.problems.filter((problem) => problem.includes(word));
    expect(about('mislabelled')).toEqual([expect.stringContaining('Blair Waldorf')]);
    expect(about('Thor.json')).toHaveLength(1);
    expect(about('multi_turn')).toHaveLength(1);
    expect(about('1_role.wav')).toHaveLength(3);
    expect(check).toMatchObject({ samples: 3, expected: 392, complete: 0, byLanguage: { en: 2, zh: 1 } });
    expect(check.missingRoles).toHaveLength(95);
    await expect(readTestData(path.join(scratch.path, 'nowhere'))).rejects.toMatchObject({ code: 'eval_data' });
  });

  it('one unreadable dialogue, a missing context or a byte order mark does not drop the other dialogues of its role', async () => {
    await using scratch = await openScratch();
    const { context: _context, ...plain } = dialogue(released, 'Thor from Thor-Ragnarok.') as { context: string };
    await put(scratch.path, {
      'test_data/single_turn/Thor.json': `\u{FEFF}${JSON.stringify([plain, { dialogue: [] }, 'nonsense', plain])}`,
      'test_data/multi_turn/Thor.json': [plain],
    });
    const { samples, dropped, problems } = await readTestData(scratch.path);
    expect(samples.map(({ id }) => id)).toEqual(['single/Thor/0', 'single/Thor/3', 'multi/Thor/0']);
    expect(dropped).toBe(2);
    expect(problems.filter((problem) => problem.includes('Thor.json[1]'))).toEqual([
      expect.stringContaining('dialogue'),
    ]);
    expect(await checkData(scratch.path)).toMatchObject({ samples: 3, dropped: 2 });
  });

  it('a reference key that the data does not have is refused, with those that it has', async () => {
    await using scratch = await openScratch();
    const speech = { user_speech_path: 'u.wav', role_speech_path1: 'r1.wav', role_speech_path2: 'r2.wav' };
    await put(scratch.path, { 'test_data/single_turn/Thor.json': [dialogue(speech, 'Thor from Thor-Ragnarok.')] });
    await expect(readTestData(scratch.path, { reference: 'nonsense' })).rejects.toThrow(
      'no reference "nonsense". It has: role_speech_path1, role_speech_path2',
    );
    await expect(readTestData(scratch.path, { reference: 'role_speech_path2' })).resolves.toMatchObject({ dropped: 0 });
  });

  it('the role is named to the judge as the reference names it', () => {
    expect(roleNameOf('I want you to act like Thor from Thor-Ragnarok.\nI want')).toBe('Thor from Thor-Ragnarok');
    expect(roleNameOf('You are Thor.')).toBeNull();
  });
});

const input = {
  role: 'HAL 9000',
  language: 'en',
  mode: 'multi',
  index: 1,
  domain: 'in',
  category: null,
  systemPrompt: '',
  turns: [
    { text: 'a', speech: null },
    { text: 'b', speech: null },
  ],
} as const;
const turns = (count: number, name: string): object[] =>
  Array.from({ length: count }, (_, turn) => ({
    turn,
    user_input: { text: 'a' },
    model_output: { text: `answer ${turn}`, audio_path: `model_output/x/multi_result/audio/${name}_${turn}.wav` },
  }));

describe('outputs of a system', () => {
  it('outputs are read in the new and the old form, with paths relative to their folder', async () => {
    await using scratch = await openScratch();
    await put(scratch.path, {
      'model_output/x/multi_result/json/HAL 9000.json': { dialogue_0: turns(2, 'no'), dialogue_1: turns(2, 'h') },
      'model_output/old/multi_result/json/HAL 9000.json': { role: 'HAL 9000', dialogue: turns(2, 'h') },
      'model_output/x/multi_result/audio/h_0.wav': 'sound',
      'model_output/x/multi_result/audio/h_1.wav': 'sound',
    });
    for (const model of ['x', 'old']) {
      const outputs = await openOutputs(path.join(scratch.path, 'model_output', model));
      const answers = await outputs.answersTo(input);
      expect(answers.map(({ text }) => text)).toEqual(['answer 0', 'answer 1']);
      expect(answers[1]?.speech).toBe(path.join(scratch.path, 'model_output/x/multi_result/audio/h_1.wav'));
    }
  });

  it('missing outputs are reported by name', async () => {
    await using scratch = await openScratch();
    await put(scratch.path, {
      'x/multi_result/json/HAL 9000.json': { dialogue_0: turns(2, 'h'), dialogue_1: turns(1, 'h') },
    });
    const outputs = await openOutputs(path.join(scratch.path, 'x'));
    await expect(outputs.answersTo(input)).rejects.toThrow('dialogue_1 has 1 of 2 turns');
    await expect(outputs.answersTo({ ...input, index: 2 })).rejects.toThrow('dialogue_2 is missing');
    await expect(outputs.answersTo({ ...input, index: 0 })).rejects.toThrow('is missing');
    await expect(outputs.answersTo({ ...input, role: 'Thor' })).rejects.toThrow('no readable answers of Thor');
  });
});
