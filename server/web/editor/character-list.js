import { languageOf, workOf } from '../parts/characters.js';
import { element, make } from '../browser/dom.js';
import { lazyPortrait } from '../face/portrait.js';
import { readStored } from '../browser/browser-storage.js';

/** @typedef {import('../parts/characters.js').Character} Character */

const list = element('list', HTMLUListElement);
const search = element('search', HTMLInputElement);
const noMatch = element('no-match', HTMLElement);

/** Searchable list of the server's characters. */
export class CharacterList {
  /** @type {readonly Character[]} */
  #characters = [];
  #chosen = '';
  /**
   * Reused during a search, so that each picture is fetched once.
   *
   * @type {Map<Character, HTMLElement>}
   */
  #portraits = new Map();
  #onChoose;

  /** @param {(id: string) => void} onChoose */
  constructor(onChoose) {
    this.#onChoose = onChoose;
    search.addEventListener('input', () => this.#render());
  }

  /** @param {readonly Character[]} characters scenes are left out: they have no card */
  show(characters) {
    this.#characters = characters.filter(({ id }) => !id.startsWith('scene:'));
    const key = readStored('tab', 'key');
    this.#portraits = new Map(this.#characters.map((each) => [each, lazyPortrait(each, key)]));
    this.#render();
  }

  /** @param {string} id */
  has(id) {
    return this.#characters.some((character) => character.id === id);
  }

  /** @param {string} id the empty string selects none */
  mark(id) {
    this.#chosen = id;
    for (const button of list.querySelectorAll('button')) {
      const isChosen = button.dataset.id === id;
      button.setAttribute('aria-pressed', String(isChosen));
      if (isChosen) button.scrollIntoView({ block: 'nearest' });
    }
  }

  #render() {
    const wanted = search.value.trim().toLowerCase();
    const found = this.#characters.filter((character) => textOf(character).includes(wanted));
    list.replaceChildren(...found.map((character) => this.#item(character)));
    noMatch.hidden = found.length > 0 || wanted === '';
    this.mark(this.#chosen);
  }

  /** @param {Character} character */
  #isDouble({ id, name }) {
    return this.#characters.some((other) => other.name === name && other.id !== id);
  }

  /** @param {Character} character */
  #item(character) {
    const words = make(
      'span',
      'about',
      make('span', 'name', character.name),
      // Show the id to distinguish characters of the same name.
      make('span', 'work', this.#isDouble(character) ? character.id : ''),
      make('span', 'tagline', character.tagline),
    );
    words.lang = languageOf(character);
    const button = make('button', 'card', this.#portraits.get(character) ?? '', words);
    Object.assign(button, { type: 'button' });
    button.dataset.id = character.id;
    button.addEventListener('click', () => this.#onChoose(character.id));
    return make('li', '', button);
  }
}

/** @param {Character} character */
function textOf(character) {
  return [character.id, character.name, character.tagline, workOf(character)].join(' ').toLowerCase();
}
