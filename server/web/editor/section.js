import { make } from '../parts/dom.js';
import { group } from './field.js';

/**
 * Fields of one object of the card, in a frame with a title.
 *
 * @param {string} title
 * @param {Readonly<Record<string, import('./field.js').Field>>} parts
 * @param {...HTMLElement} more at the end
 */
export function section(title, parts, ...more) {
  const nodes = Object.values(parts).map((part) => part.node);
  return group(make('fieldset', '', make('legend', '', title), ...nodes, ...more), title, parts);
}
