import { make } from './dom.js';

/** @import { Scene } from '../client/events.d.ts' */

/**
 * A character as the server lists it.
 *
 * @typedef {object} Character
 * @property {string} id
 * @property {string} name
 * @property {string} tagline
 * @property {readonly string[]} [languages]
 * @property {{ title: string, author?: string | null }} [work]
 * @property {string | null} [greeting]
 * @property {Scene} [scene]
 * @property {boolean} [picture] there is one
 */

/**
 * @param {string} key the empty string where the server needs none
 * @returns {Promise<{ status: number, characters: Character[] }>} status 0: the server did not answer
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
 * The cast: one card for each character.
 *
 * @param {HTMLElement} list
 * @param {readonly Character[]} characters
 * @param {(character: Character) => void} onChoose
 */
export function showCast(list, characters, onChoose) {
  list.replaceChildren(
    ...characters.map((character) => {
      const words = make(
        'span',
        'about',
        make('span', 'name', character.name),
        make('span', 'work', workOf(character)),
        make('span', 'tagline', character.tagline),
      );
      const card = make('button', 'card', portrait(character), words);
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
 * @param {string} id of the character that is chosen now
 */
export function markChosen(list, id) {
  for (const card of list.querySelectorAll('button')) {
    const isChosen = card.dataset.id === id;
    card.setAttribute('aria-pressed', String(isChosen));
    if (isChosen) card.scrollIntoView({ block: 'nearest' });
  }
}

/**
 * Initials on a colour of the character's own.
 *
 * @param {{ id: string, name: string }} character
 * @returns {HTMLElement}
 */
export function portrait({ id, name }) {
  const made = make('span', 'portrait', initials(name));
  made.setAttribute('aria-hidden', 'true');
  made.style.setProperty('--hue', String(hue(id)));
  return made;
}

/** @param {Character} character */
export function workOf({ work }) {
  if (work === undefined) return '';
  return [work.title, work.author ?? ''].filter(Boolean).join(' · ');
}

/**
 * The language the character is written in, as a tag.
 *
 * @param {Character} character
 */
export function languageOf({ languages }) {
  return languages?.[0] ?? 'en';
}

/** @param {string} name */
function initials(name) {
  const words = name.split(/[\s'’-]+/).filter((word) => /^\p{Lu}/u.test(word));
  const letters = words.length > 1 ? [words[0], words.at(-1)] : [words[0] ?? name];
  return letters.map((word) => Array.from(word ?? '')[0] ?? '').join('');
}

/**
 * In degrees; similar ids differ widely.
 *
 * @param {string} id
 */
export function hue(id) {
  let hash = 0x811c9dc5;
  for (const letter of id) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193);
  return (hash >>> 0) % 360;
}
