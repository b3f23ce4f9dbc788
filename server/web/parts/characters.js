import { make } from '../browser/dom.js';
import { lazyPortrait } from '../face/portrait.js';

/** @import { Scene } from '../../client/types/events.d.ts' */

/**
 * A character as listed by the server.
 *
 * @typedef {object} Character
 * @property {string} id
 * @property {string} name
 * @property {string} tagline
 * @property {readonly string[]} [languages]
 * @property {{ title: string, author?: string | null }} [work]
 * @property {string | null} [greeting]
 * @property {Scene} [scene]
 * @property {boolean} [picture] whether it has a picture
 */

/**
 * Facts of the server's engines that every user may know.
 *
 * @typedef {object} ServerFacts
 * @property {boolean} isScripted replies are the characters' own lines
 * @property {string | null} model name of the model that makes them otherwise
 * @property {readonly string[]} hears languages of speech recognition; empty: many
 */

/**
 * @param {string} key the empty string if the server needs none
 * @returns {Promise<{ status: number, characters: Character[], server: ServerFacts }>} status 0: the server did not
 *   answer
 */
export async function fetchCharacters(key) {
  /** @type {ServerFacts} */
  const server = { isScripted: true, model: null, hears: [] };
  try {
    const reply = await fetch('/characters', key === '' ? {} : { headers: { authorization: `Bearer ${key}` } });
    if (!reply.ok) return { status: reply.status, characters: [], server };
    const { characters, scripted, model, hears } = await reply.json();
    return { status: reply.status, characters, server: { isScripted: scripted, model, hears } };
  } catch {
    return { status: 0, characters: [], server };
  }
}

/**
 * Renders the character list, one card per character.
 *
 * @param {HTMLElement} list
 * @param {readonly Character[]} characters
 * @param {string} key API key; the empty string if the server needs none
 * @param {(character: Character) => void} onChoose
 */
export function showCast(list, characters, key, onChoose) {
  list.replaceChildren(
    ...characters.map((character) => {
      const words = make(
        'span',
        'about',
        make('span', 'name', ...namesOf(character)),
        make('span', 'work', [partOf(character), workOf(character)].filter(Boolean).join(' · ')),
        make('span', 'tagline', character.tagline),
      );
      const card = make('button', 'card', lazyPortrait(character, key), words);
      card.type = 'button';
      words.lang = languageOf(character);
      card.dataset.id = character.id;
      card.setAttribute('aria-pressed', 'false');
      card.addEventListener('click', () => onChoose(character));
      return make('li', '', card);
    }),
  );
}

/**
 * @param {HTMLElement} list
 * @param {string} id of the selected character
 */
export function markChosen(list, id) {
  for (const card of list.querySelectorAll('button')) {
    const isChosen = card.dataset.id === id;
    card.setAttribute('aria-pressed', String(isChosen));
    if (isChosen) card.scrollIntoView({ block: 'nearest' });
  }
}

/**
 * Returns the name, and for one in another script the Latin spelling that the id has.
 *
 * @param {Character} character
 * @returns {(Node | string)[]}
 */
export function namesOf({ id, name }) {
  if (/\p{Script=Latin}/u.test(name) || id.startsWith('scene:')) return [name];
  const words = id.split('-').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  const latin = make('span', 'latin', ` ${words.join(' ')}`);
  latin.lang = 'en';
  return [name, latin];
}

/**
 * Returns the user's part in a scene; the empty string for a character.
 *
 * @param {Character} character
 */
function partOf({ scene }) {
  if (scene === undefined) return '';
  return scene.user === 'listener' ? 'Scene: you listen' : `Scene: you are ${scene.user.name.replace(/^The /, 'the ')}`;
}

/** @param {Character} character */
export function workOf({ work }) {
  if (work === undefined) return '';
  return [work.title, work.author ?? ''].filter(Boolean).join(' · ');
}

/**
 * Returns the language tag of the character's texts.
 *
 * @param {Character} character
 */
export function languageOf({ languages }) {
  return languages?.[0] ?? 'en';
}

/**
 * Returns a note if speech recognition knows other languages than the character speaks.
 *
 * @param {Character} character
 * @param {readonly string[]} hears languages of speech recognition; empty: many
 */
export function hearingNote({ languages = [], scene }, hears) {
  const primary = (/** @type {string} */ tag) => tag.split('-')[0] ?? tag;
  const isUnderstood = hears.length === 0 || languages.every((tag) => hears.map(primary).includes(primary(tag)));
  if (isUnderstood || scene?.user === 'listener') return '';
  const names = new Intl.DisplayNames(['en'], { type: 'language' });
  return `Hears ${hears.map((tag) => names.of(tag) ?? tag).join(', ')} only; type in other languages.`;
}
