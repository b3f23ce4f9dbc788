import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ImportReport } from '../../characters/importers/draft.ts';
import { importers } from '../../characters/importers/open-importer.ts';
import { sharedPath } from '../shared.ts';
import { testFolder } from '../fakes/test-folder.ts';

const folder = testFolder();

let count = 0;

/** Writes the files into a new folder and imports it, or one of them. */
async function read(from: string, files: Readonly<Record<string, unknown>>, only = ''): Promise<ImportReport> {
  count += 1;
  const place = path.join(folder, String(count));
  for (const [name, body] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(place, name)), { recursive: true });
    await writeFile(path.join(place, name), typeof body === 'string' ? body : JSON.stringify(body));
  }
  return importFrom(from, path.join(place, only));
}

async function importFrom(name: string, place: string): Promise<ImportReport> {
  const importer = await importers[name]?.();
  if (importer === undefined) throw new Error(name);
  return importer(place);
}

const told = ({ problems }: ImportReport): string =>
  problems.map(({ where, what }) => `${path.basename(where)}: ${what}`).join('\n');

const profileOf = (name: string, work: string): string =>
  `I want you to act like ${name} from ${work}.\nI want you to respond and answer like ${name}.\nIf others' questions are related, reuse.\nYou must know all of the knowledge of ${name}.\nYou keep a lighthouse. You like herons.`;

describe('SpeechRole', () => {
  const files = {
    'metadata/role_profiles/Dr. Mara-Lou O_Neil_profile.txt': profileOf('Dr. Mara-Lou O’Neil', 'Escape from Skerry'),
    'metadata/role_profiles/Tom Lane_profile.txt': profileOf('Blanche Weller', 'Gossip_Tower'),
    'metadata/role_profiles/adeng_profile.txt': '我要你扮演阿灯。\n你守着灯塔。',
    'metadata/scripts/Dr. Mara-Lou O_Neil_scripts.txt':
      'Tom:「Are you lonely?」\nMara-Lou:「With four hundred herons?」\nMara-Lou:「Hardly.」\n旁白:She laughs.\nTom:「Who built the tower?」\nMara-Lou:「My grandmother.」',
    'metadata/role_voices/Dr. Mara-Lou O_Neil.wav': 'RIFF',
    'metadata/audios_text.json': { 'Dr. Mara-Lou O_Neil': 'hello there', 'Tom Lane': 'x', adeng: '你好', Nobody: 'y' },
    'test_data/single_turn/Tom Lane.json': [
      {
        dialogue: [{ user: 'Hi', role: ' Hello.' }],
        system_prompt: 'I want you to act like Tom Lane from Skerry.\nmore',
      },
    ],
  };

  it('SpeechRole import takes each role by its key, dots and underscores included, with description, lines and voice', async () => {
    const { packs } = await read('speechrole', files);
    const mara = packs.find(({ card }) => card.id === 'dr-mara-lou-o-neil');
    expect(mara?.card).toMatchObject({ name: 'Dr. Mara-Lou O’Neil', work: { title: 'Escape from Skerry' } });
    expect(mara?.card.profile).toBe('You keep a lighthouse. You like herons.');
    expect(mara?.lines).toEqual([
      { asks: ['Are you lonely?'], reply: 'With four hundred herons?' },
      { asks: ['Who built the tower?'], reply: 'My grandmother.' },
    ]);
    expect(mara?.voice?.transcript).toBe('hello there');
    expect(packs.find(({ card }) => card.languages[0] === 'zh')?.card.name).toBe('adeng');
  });

  it('SpeechRole import reports swapped profiles, missing parts, and dialogues of other roles', async () => {
    const problems = told(await read('speechrole', files));
    expect(problems).toContain('the profile of "Tom Lane" describes Blanche Weller from Gossip Tower');
    expect(problems).not.toContain('the profile of "Dr. Mara-Lou');
    expect(problems).toContain('no profile of the role "Nobody"');
    expect(problems).toContain('no voice of the role "Tom Lane"');
    expect(problems).toContain(
      'Tom Lane.json[0]: its system prompt is for Tom Lane from Skerry, its profile for Blanche Weller',
    );
  });
});

describe('RoleBench', () => {
  it('RoleBench import makes lines of a role’s rows, reports bad rows by number, and skips baselines and general questions', async () => {
    const report = await read('rolebench', {
      'profiles-eng/desc.json': { Mara: 'Keeps the lighthouse of Skerry. Likes herons.' },
      'rolebench-eng/role_specific/train.jsonl': [
        { role: 'Mara', question: ' Who built it?', generated: ['My grandmother.'], type: ['script_based'] },
        { role: 'Mara', question: 'Who?', generated: [], type: 'script_agnostic' },
        'no json',
        { role: 'Mara', generated: ['x'] },
        { role: 'Lone', question: 'Hm?', generated: ['Hm.'] },
      ]
        .map((row) => (typeof row === 'string' ? row : JSON.stringify(row)))
        .join('\n'),
      'rolebench-eng/role_specific/rolegpt_baseline.jsonl': '{"role":"Mara","question":"A","generated":["wrong"]}',
      'rolebench-eng/general/train.jsonl': '{"role":"Mara","question":"B","generated":["wrong"]}',
    });
    const mara = report.packs.find(({ card }) => card.id === 'mara');
    expect(mara?.card.profile).toContain('Likes herons.');
    expect(mara?.lines).toEqual([{ asks: ['Who built it?'], reply: 'My grandmother.' }]);
    expect(told(report)).toContain('train.jsonl:2: no answer of Mara');
    expect(told(report)).toContain('train.jsonl:3: not valid JSON');
    expect(told(report)).toContain('train.jsonl:4: not a RoleBench row');
    expect(told(report)).toContain('no description of Lone');
  });

  it('RoleBench import keeps a description that speaks to the role as its second person, and no other', async () => {
    const row = (role: string): string => JSON.stringify({ role, question: 'Who?', generated: ['I.'] });
    const described = {
      Mara: 'You keep the lighthouse of Skerry, as your grandmother did.',
      Tom: 'Ferries you across if he likes you; he was washed ashore as a boy.',
      阿灯: '你守着灯塔，从不离开他的海岸。你怕雷。',
    };
    const { packs } = await read('rolebench', {
      'profiles-eng/desc.json': JSON.stringify(described),
      'rolebench-eng/role_specific/train.jsonl': Object.keys(described).map(row).join('\n'),
    });
    const told = Object.fromEntries(packs.map(({ card }) => [card.name, card.description2]));
    expect(told).toEqual({ Mara: described.Mara, Tom: undefined, 阿灯: described.阿灯 });
  });

  it('RoleBench import of a folder leaves test answers out, which the role is examined with; a file that is named is read', async () => {
    const row = (question: string, answer: string): string =>
      JSON.stringify({ role: 'Mara', question, generated: [answer] });
    const files = {
      'rolebench-eng/role_specific/train.jsonl': row('Who built it?', 'My grandmother.'),
      'rolebench-eng/role_specific/test.jsonl': row('Are you lonely?', 'With four hundred herons?'),
    };
    const report = await read('rolebench', files);
    expect(report.packs[0]?.lines).toEqual([{ asks: ['Who built it?'], reply: 'My grandmother.' }]);
    expect(told(report)).toContain('test.jsonl: left out');
    const named = await read('rolebench', files, 'rolebench-eng/role_specific/test.jsonl');
    expect(named.packs[0]?.lines).toEqual([{ asks: ['Are you lonely?'], reply: 'With four hundred herons?' }]);
  });

  const real = sharedPath('data/rolebench-zh-role_specific-test.jsonl');
  it.skipIf(!existsSync(real))('RoleBench import reads the Chinese test rows as published', async () => {
    const { packs, problems } = await importFrom('rolebench', real);
    expect(packs.map(({ card }) => card.name).toSorted()).toEqual(
      ['华妃', '孙悟空', '张飞', '李白', '皇帝'].toSorted(),
    );
    expect(packs.reduce((sum, { lines }) => sum + lines.length, 0)).toBeGreaterThan(200);
    expect(problems.every(({ what }) => /description|repeated/.test(what))).toBe(true);
  });
});

describe('ChatHaruhi', () => {
  const script = 'Tom:「Are you lonely?」\nMara:「With four hundred herons?」';

  it('ChatHaruhi import reads folders of a prompt and chunks', async () => {
    const { packs } = await read('chatharuhi', {
      'characters/mara/system_prompt.txt': 'I want you to act like Mara from Skerry.\nShe keeps the lighthouse.',
      'characters/mara/texts/1.txt': script,
    });
    expect(packs[0]?.card).toMatchObject({ id: 'mara', name: 'Mara', profile: 'She keeps the lighthouse.' });
    expect(packs[0]?.lines).toHaveLength(1);
  });

  it('ChatHaruhi import reads packages with embeddings, plain and base64, and reports broken vectors by row', async () => {
    const vector = Buffer.alloc(8);
    vector.writeFloatBE(0.5, 0);
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    const rows = [
      { text: 'I want you to act like Mara from Skerry.\nA keeper.', bge_en_s15: 'system_prompt' },
      { text: '{}', bge_en_s15: 'config' },
      { enc_text: base64(script), bge_en_s15: vector.toString('base64') },
      { text: 'Tom:「Bad?」\nMara:「Worse.」', bge_en_s15: 'AAA=' },
      { words: 'x' },
    ];
    const report = await read(
      'chatharuhi',
      { 'mara.jsonl': rows.map((row) => JSON.stringify(row)).join('\n') },
      'mara.jsonl',
    );
    expect(report.packs[0]?.lines).toHaveLength(2);
    expect(told(report)).toMatch(/mara\.jsonl:4: the embedding.*\n.*mara\.jsonl:5: neither/);
  });
});

it('CoSER import takes what is said aloud as lines and plots as experiences, and leaves out characters with too few lines', async () => {
  const dialogues = Array.from({ length: 6 }, (_, index) => [
    { character: 'Tom', message: `(sits down) Question ${index}? [He knows it.]` },
    { character: 'Environment', message: 'The wind howls.' },
    { character: 'Mara', message: `[Fool.] Answer ${index}. (turns away)` },
  ]).flat();
  const report = await read('coser', {
    'Skerry.json': {
      plots: [
        {
          summary: 'Tom is washed ashore.',
          key_characters: [{ name: 'Tom' }, { name: 'Mara', experience: 'Mara pulls him out of the surf.' }],
          conversation: [{ scenario: 'Night.', dialogues }],
        },
      ],
      character_datasets: { Mara: { profile: 'Keeps the lighthouse.' }, Tom: { profile: '' }, Environment: {} },
    },
    'other.json': { plots: 3 },
  });
  expect(report.packs.map(({ card }) => card.name)).toEqual(['Mara', 'Tom']);
  expect(report.packs[0]?.lines[2]).toEqual({ asks: ['Question 2?'], reply: 'Answer 2.' });
  expect(report.packs[0]?.card.experiences).toEqual(['Tom is washed ashore.\nMara pulls him out of the surf.']);
  expect(report.packs[1]?.card.experiences).toEqual(['Tom is washed ashore.']);
  expect(told(report)).toMatch(/Skerry\.json: Tom: no profile[^]*other\.json: not a CoSER book/);
});

it('Beyond Dialogue import reads traits, manner, type and partners, and reports labels that the prompt contradicts', async () => {
  const report = await read('beyond-dialogue', {
    'Mara.json': {
      name: 'Mara',
      style: 'direct,dry',
      personality: 'ISTJ',
      character: 'decisive, patient',
      world: 'Skerry',
      sys_prompt: 'You are Mara. You are indecisive at heart. The scene is {scene}. Speak with {chat_role}.',
      chats: {
        Tom: { chat_role: 'Tom', scene: 'A storm.', emotions: { anger: 1 }, relationship_analyse: 'They are friends.' },
      },
    },
  });
  expect(report.packs[0]?.card).toMatchObject({
    temperament: ['decisive', 'patient'],
    style: 'direct, dry',
    mbti: 'ISTJ',
    scenario: 'A storm.',
    relationships: [{ name: 'Tom', relation: 'They are friends.' }],
  });
  expect(report.packs[0]?.card.profile).not.toContain('{');
  expect(told(report)).toMatch(/1 emotions, expected six/);
  expect(told(report)).toMatch(/the labels say "decisive", the prompt "indecisive"/);
});

describe('encyclopedia import', () => {
  const value = (id: string): object => ({ mainsnak: { datavalue: { value: { id } } } });

  it('Wikidata import writes claims in words if the file names them', async () => {
    const label = (name: string): object => ({ labels: { en: { value: name } } });
    const report = await read('wikidata', {
      'Q1.json': {
        entities: {
          Q1: {
            ...label('Mara Lou'),
            descriptions: { en: { value: 'keeper of a lighthouse' } },
            aliases: { en: [{ value: 'Old Mara' }] },
            claims: {
              P21: [value('Q2')],
              P106: [value('Q3'), value('Q99')],
              P40: [value('Q4')],
              P570: [{ mainsnak: { datavalue: { value: { time: '+1890-05-01T00:00:00Z' } } } }],
              P9999: [value('Q3')],
            },
          },
          Q2: label('female'),
          Q3: label('lighthouse keeper'),
          Q4: label('Tom Lou'),
        },
      },
    });
    expect(report.packs[0]?.card).toMatchObject({
      name: 'Mara Lou',
      voice: { gender: 'female' },
      knowledge: { untilYear: 1890 },
      relationships: [{ name: 'Tom Lou', relation: 'child' }],
      background: 'Also known as Old Mara.\nsex or gender: female\noccupation: lighthouse keeper\ndate of death: 1890',
    });
    expect(told(report)).toContain('1 claims refer to entities that the file does not name');
  });

  it('DITTO import reads rows with label, claims and summary, also below meta', async () => {
    const row = {
      label: '阿灯',
      description: '守灯塔的人',
      claims: [['阿灯', '职业', '守塔人']],
      summary: '阿灯守着海边的灯塔。',
      lang: 'zh',
    };
    const report = await read('wikidata', {
      'a.jsonl': `${JSON.stringify(row)}\n${JSON.stringify({ meta: { ...row, label: '小海' } })}\n{"x":1}`,
    });
    expect(report.packs.map(({ card }) => card.name)).toEqual(['阿灯', '小海']);
    expect(report.packs[0]?.card.background).toBe('职业: 守塔人');
    expect(told(report)).toContain('a.jsonl:3: not a Wikidata entity');
  });
});
