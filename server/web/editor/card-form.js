import { make } from '../parts/dom.js';
import { group } from './field.js';
import { Fields } from './fields.js';
import { loreFields } from './lore-fields.js';
import { exampleRows, peopleRows, textRows } from './card-rows.js';
import { section } from './section.js';
import { openTabs } from './tabs.js';
import { voiceFields } from './voice-fields.js';

/** @typedef {import('./field.js').Field} Field */
/** @typedef {import('./field.js').Rule} Rule */
/** @typedef {import('./field.js').Values} Values */

const NAMES = ['Who', 'Manner', 'Lines', 'Knowledge', 'Lorebook', 'Voice', 'Source'];

/**
 * Creates the form of a whole pack. Input is written to `pack` at once; keys without a field are
 * left unchanged.
 *
 * @param {object} options
 * @param {{ card: Values, lines: Values[] }} options.pack
 * @param {Rule} options.schema schema of the pack
 * @param {boolean} options.isReadOnly
 * @param {string} options.tab the tab to show first
 * @param {import('./voice-fields.js').VoiceLibrary} options.casting
 * @returns {Field & { tab: () => string, mark: (paths: readonly string[][]) => void }}
 */
export function cardForm({ pack, schema, isReadOnly, tab, casting }) {
  const rules = schema.properties ?? {};
  const card = new Fields(pack.card, rules['card'] ?? {}, isReadOnly);
  const { bar, tabs, chosen } = openTabs('Parts of the card', NAMES, tab);
  const parts = [
    who(card),
    manner(card),
    { lines: exampleRows(pack.lines, rules['lines']?.items ?? {}, isReadOnly) },
    knowledge(card),
    loreFields(card),
    voiceFields(card, casting),
    source(card),
  ];
  for (const [index, fields] of parts.entries())
    tabs[index]?.panel.append(...Object.values(fields).map(({ node }) => node));
  /** @type {Record<string, Field>} */
  const byKey = {};
  /** @type {Map<string, number>} */
  const tabOf = new Map();
  for (const [index, fields] of parts.entries()) {
    for (const [key, field] of Object.entries(fields)) {
      byKey[key] = group(field.node, field.label, { [key]: field }, tabs[index]?.show);
      tabOf.set(key, index);
    }
  }
  const node = make('div', 'card-form', bar, ...tabs.map(({ panel }) => panel));
  node.lang = pack.card['languages']?.[0] ?? 'en';
  const whole = group(node, 'Card', {});
  /** @param {readonly string[]} path */
  const keyOf = ([first = '', second = '']) => (first === 'lines' ? first : second);
  return {
    ...whole,
    at: (path) => byKey[keyOf(path)]?.at(path[0] === 'lines' ? path : path.slice(1)) ?? whole,
    tab: chosen,
    mark(paths) {
      for (const [index, each] of tabs.entries())
        each.mark(paths.filter((path) => tabOf.get(keyOf(path)) === index).length);
    },
  };
}

/** @param {Fields} card */
function who(card) {
  return {
    name: card.line('name', { label: 'Name' }),
    tagline: card.line('tagline', { label: 'Tagline', hint: 'One line for lists.' }),
    identity: card.long('identity', { label: 'In one sentence', hint: 'Who this is, in the third person.' }),
    profile: card.long('profile', { label: 'Profile', hint: 'Age, station, looks, occupation.' }),
    background: card.long('background', { label: 'Life so far' }),
    temperament: card.list('temperament', { label: 'Temperament', hint: 'Adjectives and short traits, one a line.' }),
    mbti: card.line('mbti', { label: 'MBTI', hint: 'Four letters, such as INTP; may stay empty.', optional: true }),
    relationships: peopleRows(card),
    languages: card.list('languages', {
      label: 'Languages',
      hint: 'Tags such as en or zh, one a line. The first is the one greeted in.',
    }),
  };
}

/** @param {Fields} card */
function manner(card) {
  return {
    greetings: textRows(card, 'greetings', {
      label: 'Greetings',
      one: 'Greeting',
      hint: 'Said when a talk opens; the first one, or one of them.',
    }),
    scenario: card.long('scenario', {
      label: 'Scenario',
      hint: 'Where and when the talk takes place.',
      optional: true,
    }),
    style: card.long('style', { label: 'Style of speech', hint: 'Diction, rhythm, habits.' }),
    catchphrases: card.list('catchphrases', { label: 'Catchphrases' }),
    evasions: card.list('evasions', {
      label: 'Ways out',
      hint: 'For remarks nothing else answers: six or more, one a line.',
    }),
    repeatRequests: card.list('repeatRequests', {
      label: 'Asking again',
      hint: 'For speech that was not understood: three or more, one a line.',
    }),
    directions: directions(card.inside('directions')),
    persona: card.choice('persona', {
      label: 'Instructions of a session',
      hint: 'For benchmarks that bring their own prompts.',
      optional: true,
      words: {
        '': 'are a scene under this card',
        card: 'are a scene under this card (said so)',
        instructions: 'are all the model is told',
      },
    }),
  };
}

/** @param {Fields} fields */
function directions(fields) {
  const parts = {
    before: fields.long('before', {
      label: 'Before the talk',
      hint: 'Called system prompt in other programs.',
      optional: true,
    }),
    after: fields.long('after', {
      label: 'After the talk so far',
      hint: 'Called post-history instructions.',
      optional: true,
    }),
  };
  return section('Directions to whoever plays the character', parts);
}

/** @param {Fields} card */
function knowledge(card) {
  const fields = card.inside('knowledge');
  const parts = {
    knows: fields.long('knows', { label: 'Can speak of' }),
    untilYear: fields.number('untilYear', {
      label: 'Knows nothing after the year',
      hint: 'May stay empty, for fairy-tale time. Years before our era are negative.',
      optional: true,
    }),
    unknown: fields.long('unknown', { label: 'Outside this world', hint: 'What the character has never heard of.' }),
  };
  return { knowledge: section('Knowledge and its end', parts) };
}

/** @param {Fields} card */
function source(card) {
  const fields = card.inside('work');
  const parts = {
    title: fields.line('title', { label: 'Work' }),
    author: fields.line('author', { label: 'Author', optional: true }),
    year: fields.number('year', { label: 'Year', optional: true }),
    rights: fields.line('rights', { label: 'Rights', hint: 'Why this character may be used.' }),
  };
  const id = new Fields({ id: card.valueOf('id') }, {}, true).line('id', {
    label: 'Id',
    hint: 'The name of its folder, and of its model over the API. It stays as it is.',
  });
  return { work: section('Where the character comes from', parts), id };
}
