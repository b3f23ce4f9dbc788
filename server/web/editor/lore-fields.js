import { make } from '../browser/dom.js';
import { group } from './field.js';
import { Fields } from './fields.js';
import { section } from './section.js';
import { rows } from './rows.js';

/** @typedef {import('./field.js').Field} Field */
/** @typedef {import('./field.js').Values} Values */

/**
 * Creates the fields of the lorebook: scan settings and entries.
 *
 * @param {Fields} card
 * @returns {Record<string, Field>}
 */
export function loreFields(card) {
  const reading = card.inside('loreReading');
  const list = card.valueOf('lorebook') ?? [];
  card.set('lorebook', list);
  return {
    lorebook: entries(card, list),
    loreReading: section('Scan settings', {
      scanDepth: reading.number('scanDepth', {
        label: 'Scan depth',
        hint: 'Number of recent messages that are searched for keys.',
      }),
      budgetTokens: reading.number('budgetTokens', {
        label: 'Token budget',
        hint: 'Maximum number of tokens for triggered entries.',
      }),
      recursive: reading.check('recursive', { label: 'Triggered entries can trigger others' }),
    }),
  };
}

/**
 * @param {Fields} card
 * @param {Values[]} list
 */
function entries(card, list) {
  const rule = card.ruleOf('lorebook').items ?? {};
  /** Opened entries stay open when they move. @type {WeakSet<Values>} */
  const opened = new WeakSet();
  return rows({
    list,
    label: 'Entries',
    one: 'Entry',
    hint: 'Facts that are added to the prompt if one of their keys is mentioned.',
    isReadOnly: card.isReadOnly,
    blank() {
      const entry = { keys: [], content: '', constant: false };
      opened.add(entry);
      return entry;
    },
    textOf: (index) => JSON.stringify(Object.values(list[index] ?? {})),
    row(index) {
      const entry = list[index] ?? {};
      return loreEntry(entry, new Fields(entry, rule, card.isReadOnly), opened);
    },
  });
}

/**
 * Creates one collapsed entry; its fields are created when it is opened.
 *
 * @param {Values} entry
 * @param {Fields} fields
 * @param {WeakSet<Values>} opened
 * @returns {Field}
 */
function loreEntry(entry, fields, opened) {
  const summary = make('summary', '');
  const node = make('details', 'entry', summary);
  /** @type {Record<string, Field> | undefined} */
  let parts;
  const open = () => {
    if (parts !== undefined) return parts;
    parts = entryFields(fields);
    const { enabled, constant, regex, caseSensitive, order, priority, ...texts } = parts;
    const switches = [enabled, constant, regex, caseSensitive].map((part) => part?.node ?? '');
    node.append(
      ...Object.values(texts).map((part) => part.node),
      make('div', 'pair', order?.node ?? '', priority?.node ?? ''),
      make('div', 'switches', ...switches),
    );
    return parts;
  };
  const title = () => summary.replaceChildren(...titleOf(entry));
  title();
  node.addEventListener('input', title);
  node.addEventListener('toggle', () => {
    if (node.open) opened.add(entry);
    else opened.delete(entry);
    if (node.open) open();
  });
  if (opened.has(entry)) {
    open();
    node.open = true;
  }
  const field = group(node, 'Entry', {});
  return {
    ...field,
    at(path) {
      const made = open();
      node.open = true;
      return group(node, 'Entry', made).at(path);
    },
    focus: () => (node.open ? node.querySelector('input')?.focus() : summary.focus()),
  };
}

/**
 * @param {Fields} fields
 * @returns {Record<string, Field>}
 */
function entryFields(fields) {
  return {
    name: fields.line('name', { label: 'Name', hint: 'Only shown here.', optional: true }),
    keys: fields.list('keys', {
      label: 'Keys',
      hint: 'The entry is triggered if one of them is mentioned. One per line.',
    }),
    secondaryKeys: fields.list('secondaryKeys', {
      label: 'Secondary keys',
      hint: 'If set, one of these must also be mentioned.',
      optional: true,
    }),
    content: fields.long('content', {
      label: 'Content',
      hint: 'May begin with Character Card V3 decorators, such as @@depth 4, one per line.',
    }),
    order: fields.number('order', { label: 'Order', hint: 'Lower values come earlier in the prompt.', optional: true }),
    priority: fields.number('priority', {
      label: 'Priority',
      hint: 'If the token budget is exceeded, the lowest is dropped first.',
      optional: true,
    }),
    enabled: fields.check('enabled', { label: 'Enabled', usually: true, optional: true }),
    constant: fields.check('constant', { label: 'Always in the prompt' }),
    regex: fields.check('regex', { label: 'Keys are regular expressions', optional: true }),
    caseSensitive: fields.check('caseSensitive', { label: 'Case-sensitive', optional: true }),
  };
}

/** @param {Values} entry */
function titleOf({ name, keys = [], content = '', enabled, constant }) {
  const title = make('strong', '', name || keys.join(', ') || (constant ? 'Always' : 'New entry'));
  const badge = enabled === false ? ['off'] : constant ? ['always'] : [];
  return [title, ...badge.map((text) => make('span', 'badge', text)), make('span', 'excerpt', content.slice(0, 120))];
}
