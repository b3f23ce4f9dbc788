/** Cards as written by common programs, each with other fields; the characters are our own. */

const v2 = (data: object, around: object = {}): object => ({
  spec: 'chara_card_v2',
  spec_version: '2.0',
  ...around,
  data: {
    name: 'Mara',
    description: '{{char}} keeps the lighthouse of Skerry. She is sixty and has outlived two husbands.',
    personality: 'dry, patient, fond of herons',
    scenario: '{{user}} was washed ashore in a storm.',
    first_mes: '*lifts the lamp* "You are late for supper, {{user}}."',
    mes_example:
      '<START>\n{{user}}: Are you not lonely?\n{{char}}: *laughs* With four hundred herons? Hardly.\n<START>\n{{user}}: Who built the tower?\n{{char}}: My grandmother. Every stone came by boat.',
    creator_notes: 'A keeper. Best by night.',
    system_prompt: '{{original}} Mara never hurries.',
    post_history_instructions: 'Mind the tide.',
    alternate_greetings: ['"Boots off," says Mara.', 'Wipe your feet.'],
    tags: ['sea', 'original'],
    creator: 'the Dramatis team',
    character_version: '1.2',
    extensions: {},
    ...data,
  },
});

const entry = (keys: string[], content: string, more: object = {}): object => ({
  keys,
  content,
  extensions: {},
  enabled: true,
  insertion_order: 10,
  ...more,
});

const book = {
  name: 'Skerry',
  description: 'An island',
  scan_depth: 5,
  token_budget: 300,
  recursive_scanning: true,
  extensions: { anything: [1, { deep: null }] },
  entries: [
    entry(['heron', 'birds'], 'The herons nest under the gallery.', { id: 1, name: 'herons', priority: 10 }),
    entry(['tower'], 'The tower has ninety-nine steps.', {
      selective: true,
      secondary_keys: ['steps', 'stairs'],
      case_sensitive: true,
      comment: 'both must be there',
      position: 'before_char',
    }),
    entry(['/lamp(s)?/i'], '@@depth 2\n@@role system\nThe lamp burns whale oil.', { use_regex: true }),
    entry([], 'It is always windy.', { constant: true, position: 'after_char' }),
    entry(['wreck'], 'Nobody speaks of the wreck.', { enabled: false, insertion_order: 99, case_sensitive: null }),
  ],
};

const v3Data = {
  nickname: 'Old Mara',
  creator_notes_multilingual: { zh: '守灯塔的人' },
  source: ['https://example.org/cards/mara'],
  group_only_greetings: ['"So many guests," says Mara.'],
  creation_date: 1_735_689_600,
  modification_date: 1_767_225_600,
  assets: [
    { type: 'icon', uri: 'embeded://assets/icon/main.png', name: 'main', ext: 'png' },
    { type: 'background', uri: 'ccdefault:', name: 'main', ext: 'png' },
  ],
};

export const cards: Readonly<Record<string, object>> = {
  'V1, six flat fields': {
    name: 'Mara',
    description: 'Keeps a lighthouse.',
    personality: 'dry',
    scenario: '',
    first_mes: 'Come in.',
    mes_example: '',
  },
  'V1 with keys of an old program': {
    name: 'Mara',
    description: 'Keeps a lighthouse.',
    personality: 'dry',
    scenario: 'a storm',
    first_mes: 'Come in.',
    mes_example: '<START>\nYou: Who are you?\nMara: The keeper.',
    metadata: { version: 1, tool: { name: 'an editor' } },
    avatar: 'none',
  },
  'V2, every field': v2({}),
  'V2 with a book, every field of an entry': v2({ character_book: book }),
  'V2 with flat copies beside the data': v2(
    {},
    { name: 'Mara', description: 'copied', fav: true, chat: 'Mara 2024', create_date: '2024-5-1 @10h' },
  ),
  'V2 with the extensions of others': v2({
    extensions: {
      talkativeness: '0.5',
      fav: false,
      world: 'Skerry',
      depth_prompt: { prompt: 'Be brief.', depth: 4, role: 'system' },
      'chub/alt': [{ nested: { deeper: ['x', 1, true, null] } }],
    },
  }),
  'V2 with nulls where nothing is': v2({
    character_book: null,
    alternate_greetings: null,
    system_prompt: null,
    tags: null,
  }),
  'V2 in Chinese': v2({
    name: '阿灯',
    description: '{{char}}守着海边的灯塔。她六十岁，喜欢鹭鸟。',
    personality: '寡言，耐心，爱鸟',
    first_mes: '*举起灯* “你来晚了，{{user}}。”',
    mes_example: '<START>\n{{user}}：你不寂寞吗？\n{{char}}：有四百只鹭鸟陪着呢。',
  }),
  'V3, every field': {
    ...v2({ ...v3Data, character_book: book }),
    spec: 'chara_card_v3',
    spec_version: '3.0',
  },
  'V3 of a later version, with unknown keys everywhere': {
    ...v2({ ...v3Data, assets: undefined, hologram: { frames: 3 }, character_book: { ...book, mood: 'grey' } }),
    spec: 'chara_card_v3',
    spec_version: '3.7',
    signature: 'abc',
  },
};
