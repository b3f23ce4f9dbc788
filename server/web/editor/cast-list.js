import { languageOf, workOf } from '../parts/characters.js';
import { element, make } from '../parts/dom.js';
import { lazyPortrait } from '../parts/portrait.js';
import { recall } from '../parts/remember.js';

/** @typedef {import('../parts/characters.js').Character} Character */

const list = element('list', HTMLUListElement);
const search = element('search', HTMLInputElement);
const nobody = element('nobody', HTMLElement);

/** The characters of the server, to search and choose among. */
export class CastList {
  /** @type {readonly Character[]} */
  #characters = [];
  #chosen = '';
  /** Kept while the list is searched: a picture is fetched once. @type {Map<Character, HTMLElement>} */
  #portraits = new Map();
  #onChoose;

  /** @param {(id: string) => void} onChoose */
  constructor(onChoose) {
    this.#onChoose = onChoose;
    search.addEventListener('input', () => this.#render());
  }

  /** @param {readonly Character[]} characters scenes among them are left out: they have no card */
  show(characters) {
    this.#characters = characters.filter(({ id }) => !id.startsWith('scene:'));
    const key = recall('tab', 'key');
    this.#portraits = new Map(this.#characters.map((each) => [each, lazyPortrait(each, key)]));
    this.#render();
  }

  /** @param {string} id */
  has(id) {
    return this.#characters.some((character) => character.id === id);
  }

  /** @param {string} id the empty string: nobody */
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
    nobody.hidden = found.length > 0 || wanted === '';
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
      // Two of one name are told apart by their ids.
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
