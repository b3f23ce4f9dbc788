import { make } from '../browser/dom.js';
import { newId } from './field.js';

/**
 * @typedef {{ readonly label: string, readonly panel: HTMLElement, readonly show: () => void,
 *   readonly mark: (problems: number) => void }} Tab
 */

/**
 * Creates tabs after the ARIA pattern: one tab stop, arrow keys switch between tabs.
 *
 * @param {string} label
 * @param {readonly string[]} names
 * @param {string} [chosen] name of the tab to show first
 * @returns {{ bar: HTMLElement, tabs: readonly Tab[], chosen: () => string }}
 */
export function openTabs(label, names, chosen) {
  const bar = make('div', 'tabs');
  bar.setAttribute('role', 'tablist');
  bar.setAttribute('aria-label', label);
  const made = names.map((name) => {
    const button = make('button', '', name);
    Object.assign(button, { type: 'button', id: newId() });
    button.setAttribute('role', 'tab');
    const panel = make('div', 'panel');
    panel.id = newId();
    panel.setAttribute('role', 'tabpanel');
    panel.setAttribute('aria-labelledby', button.id);
    button.setAttribute('aria-controls', panel.id);
    button.addEventListener('click', () => show(name));
    bar.append(button);
    return { name, button, panel };
  });
  let current = '';
  bar.addEventListener('keydown', ({ key }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    const at = made.findIndex(({ name }) => name === current);
    const next = step === undefined ? undefined : made.at((at + step) % made.length);
    if (next === undefined) return;
    show(next.name);
    next.button.focus();
  });
  show(chosen !== undefined && names.includes(chosen) ? chosen : (names[0] ?? ''));
  return {
    bar,
    chosen: () => current,
    tabs: made.map(({ name, button, panel }) => ({
      label: name,
      panel,
      show: () => show(name),
      mark(problems) {
        button.dataset.problems = problems === 0 ? '' : String(problems);
      },
    })),
  };

  /** @param {string} wanted */
  function show(wanted) {
    current = wanted;
    for (const { name, button, panel } of made) {
      const isChosen = name === wanted;
      button.setAttribute('aria-selected', String(isChosen));
      button.tabIndex = isChosen ? 0 : -1;
      panel.hidden = !isChosen;
      if (isChosen) button.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    }
  }
}
