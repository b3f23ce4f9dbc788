import { make } from '../browser/dom.js';
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

const NAMES = ['Identity', 'Style', 'Lines', 'Knowledge', 'Lorebook', 'Voice', 'Source'];

/**
 * Creates the form of a whole pack. Input is written to `pack` at once; keys without a field are
 * left unchanged.
 *
 * @param {object} options
 * @param {{ card: Values, lines: Values[] }} options.pack
 * @param {Rule} options.schema schema of the pack
 * @param {boolean} options.isReadOnly
 * @param {string} options.tab the tab to show first
 * @param {import('./voice-fields.js').VoiceLibrary} options.library
 * @returns {Field & { tab: () => string, mark: (paths: readonly string[][]) => void }}
 */
export function cardForm({ pack, schema, isReadOnly, tab, library }) {
  const rules = schema.properties ?? {};
  const card = new Fields(pack.card, rules['card'] ?? {}, isReadOnly);
  const { bar, tabs, chosen } = openTabs('Sections of the card', NAMES, tab);
  const parts = [
    identity(card),
    style(card),
    { lines: exampleRows(pack.lines, rules['lines']?.items ?? {}, isReadOnly) },
    knowledge(card),
    loreFields(card),
    voiceFields(card, library),
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
function identity(card) {
  return {
    name: card.line('name', { label: 'Name' }),
    tagline: card.line('tagline', { label: 'Tagline', hint: 'One line, shown in lists.' }),
    identity: card.long('identity', { label: 'Summary', hint: 'The character in one sentence, in the third person.' }),
    profile: card.long('profile', { label: 'Profile', hint: 'Age, social position, appearance, occupation.' }),
    background: card.long('background', { label: 'Background' }),
    description2: card.long('description2', {
      label: 'Description in the second person',
      hint: '“You are …”, without the name. For the prompt recipes of papers. Optional.',
      optional: true,
    }),
    temperament: card.list('temperament', { label: 'Temperament', hint: 'Adjectives and short traits, one per line.' }),
    mbti: card.line('mbti', { label: 'MBTI', hint: 'Four letters, such as INTP. Optional.', optional: true }),
    relationships: peopleRows(card),
    languages: card.list('languages', {
      label: 'Languages',
      hint: 'Tags such as en or zh, one per line. Greetings use the first.',
    }),
  };
}

/** @param {Fields} card */
function style(card) {
  return {
    greetings: textRows(card, 'greetings', {
      label: 'Greetings',
      one: 'Greeting',
      hint: 'Spoken at the start of a conversation: the first one, or one of them.',
    }),
    scenario: card.long('scenario', {
      label: 'Scenario',
      hint: 'Place and time of the conversation.',
      optional: true,
    }),
    style: card.long('style', { label: 'Speaking style', hint: 'Diction, rhythm, habits.' }),
    catchphrases: card.list('catchphrases', { label: 'Catchphrases' }),
    evasions: card.list('evasions', {
      label: 'Fallback lines',
      hint: 'Spoken if nothing else fits the user’s message. Six or more, one per line.',
    }),
    repeatRequests: card.list('repeatRequests', {
      label: 'Repeat requests',
      hint: 'Spoken if speech was not understood. Three or more, one per line.',
    }),
    directions: directions(card.inside('directions')),
    persona: card.choice('persona', {
      label: 'Session instructions',
      hint: 'For benchmarks that bring their own prompts.',
      optional: true,
      words: {
        '': 'are a scene for this card',
        card: 'are a scene for this card (stated)',
        instructions: 'replace the card’s prompt',
      },
    }),
  };
}

/** @param {Fields} fields */
function directions(fields) {
  const parts = {
    before: fields.long('before', {
      label: 'Before the conversation',
      hint: 'Called system prompt in other programs.',
      optional: true,
    }),
    after: fields.long('after', {
      label: 'After the conversation',
      hint: 'Called post-history instructions.',
      optional: true,
    }),
  };
  return section('Instructions to the model', parts);
}

/** @param {Fields} card */
function knowledge(card) {
  const fields = card.inside('knowledge');
  const parts = {
    knows: fields.long('knows', { label: 'Known' }),
    untilYear: fields.number('untilYear', {
      label: 'Last known year',
      hint: 'Optional. Years BC are negative.',
      optional: true,
    }),
    unknown: fields.long('unknown', { label: 'Unknown', hint: 'What the character cannot know.' }),
  };
  return { knowledge: section('Knowledge', parts) };
}

/** @param {Fields} card */
function source(card) {
  const fields = card.inside('work');
  const parts = {
    title: fields.line('title', { label: 'Work' }),
    author: fields.line('author', { label: 'Author', optional: true }),
    year: fields.number('year', { label: 'Year', optional: true }),
    rights: fields.line('rights', { label: 'Rights', hint: 'Licence, or the reason why this character may be used.' }),
  };
  const id = new Fields({ id: card.valueOf('id') }, {}, true).line('id', {
    label: 'Id',
    hint: 'The name of its folder and, in the API, of its model. It cannot be changed.',
  });
  return { work: section('Source', parts), id };
}
