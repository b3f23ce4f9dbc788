import { make } from '../browser/dom.js';
import { group } from './field.js';
import { Fields } from './fields.js';
import { rows } from './rows.js';

/** @typedef {import('./field.js').Field} Field */
/** @typedef {import('./field.js').Rule} Rule */
/** @typedef {import('./field.js').Values} Values */

/**
 * Creates rows for a list of multi-line texts.
 *
 * @param {Fields} fields
 * @param {string} key
 * @param {{ label: string, one: string, hint: string }} about
 * @returns {Field}
 */
export function textRows(fields, key, { label, one, hint }) {
  const list = fields.valueOf(key) ?? [];
  fields.set(key, list);
  const rule = fields.ruleOf(key).items ?? {};
  return rows({
    list,
    label,
    one,
    hint,
    isReadOnly: fields.isReadOnly,
    blank: () => '',
    textOf: (index) => String(list[index]),
    row: (index) =>
      new Fields(list, { properties: { [index]: rule } }, fields.isReadOnly).long(String(index), { label: one }),
  });
}

/**
 * Creates the rows of the character's relationships.
 *
 * @param {Fields} card
 * @returns {Field}
 */
export function peopleRows(card) {
  /** @type {Values[]} */
  const list = card.valueOf('relationships') ?? [];
  card.set('relationships', list);
  const rule = card.ruleOf('relationships').items ?? {};
  return rows({
    list,
    label: 'People',
    one: 'Person',
    hint: 'People whom the character knows, and their relations.',
    isReadOnly: card.isReadOnly,
    blank: () => ({ name: '', relation: '' }),
    textOf: (index) => `${list[index]?.['name']} ${list[index]?.['relation']}`,
    row(index) {
      const fields = new Fields(list[index] ?? {}, rule, card.isReadOnly);
      return pair({
        name: fields.line('name', { label: 'Name' }),
        relation: fields.line('relation', { label: 'Relation' }),
      });
    },
  });
}

/**
 * Creates the rows of example lines: triggers and reply.
 *
 * @param {Values[]} list
 * @param {Rule} rule
 * @param {boolean} isReadOnly
 * @returns {Field}
 */
export function exampleRows(list, rule, isReadOnly) {
  return rows({
    list,
    label: 'Example lines',
    one: 'Line',
    hint: 'The most important part of a card: without an LLM they are all that the character says; with one they set its tone. Each has one to four triggers and one short reply written to be spoken.',
    isReadOnly,
    blank: () => ({ asks: [], reply: '' }),
    textOf: (index) => `${list[index]?.['asks'].join(' ')} ${list[index]?.['reply']}`,
    row(index) {
      const fields = new Fields(list[index] ?? {}, rule, isReadOnly);
      const parts = {
        asks: fields.list('asks', {
          label: 'Triggers',
          hint: 'User messages that lead to this reply: up to four, one per line.',
        }),
        reply: fields.long('reply', { label: 'Reply' }),
        emotion: fields.choice('emotion', { label: 'Emotion', optional: true, words: { '': 'not set' } }),
        language: fields.line('language', {
          label: 'Language',
          hint: 'Only if it is not the first language of the card.',
          optional: true,
        }),
      };
      return pair(parts);
    },
  });
}

/**
 * Creates the rows of pronunciations, for words that the voice mispronounces.
 *
 * @param {Fields} speech
 * @returns {Field}
 */
export function pronunciationRows(speech) {
  /** @type {Values[]} */
  const list = Object.entries(speech.valueOf('pronunciations') ?? {}).map(([word, sound]) => ({ word, sound }));
  const field = rows({
    list,
    label: 'Pronunciations',
    one: 'Word',
    hint: 'Words that the voice mispronounces, with a spelling that it pronounces correctly.',
    isReadOnly: speech.isReadOnly,
    blank: () => ({ word: '', sound: '' }),
    textOf: (index) => `${list[index]?.['word']} ${list[index]?.['sound']}`,
    row(index) {
      const fields = new Fields(list[index] ?? {}, {}, speech.isReadOnly);
      return pair({
        word: fields.line('word', { label: 'Spelling' }),
        sound: fields.line('sound', { label: 'Pronunciation' }),
      });
    },
  });
  field.node.addEventListener('input', () => {
    speech.set('pronunciations', Object.fromEntries(list.map(({ word, sound }) => [word, sound])));
  });
  return field;
}

/** @param {Readonly<Record<string, Field>>} parts */
function pair(parts) {
  return group(make('div', 'pair', ...Object.values(parts).map(({ node }) => node)), '', parts);
}
