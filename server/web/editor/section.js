import { make } from '../browser/dom.js';
import { group } from './field.js';

/**
 * Groups the fields of one object of the card in a titled fieldset.
 *
 * @param {string} title
 * @param {Readonly<Record<string, import('./field.js').Field>>} parts
 * @param {...HTMLElement} more appended at the end
 */
export function section(title, parts, ...more) {
  const nodes = Object.values(parts).map((part) => part.node);
  return group(make('fieldset', '', make('legend', '', title), ...nodes, ...more), title, parts);
}
