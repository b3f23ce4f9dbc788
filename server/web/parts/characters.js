import { make } from './dom.js';
import { lazyPortrait } from './portrait.js';

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
 * @param {string} key the empty string if the server needs none
 * @returns {Promise<{ status: number, characters: Character[] }>} status 0: the server did not
 *   answer
 */
export async function fetchCharacters(key) {
  try {
    const reply = await fetch('/characters', key === '' ? {} : { headers: { authorization: `Bearer ${key}` } });
    if (!reply.ok) return { status: reply.status, characters: [] };
    const { characters } = await reply.json();
    return { status: reply.status, characters };
  } catch {
    return { status: 0, characters: [] };
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
        make('span', 'name', character.name),
        make('span', 'work', workOf(character)),
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
