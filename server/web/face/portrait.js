import { face } from './face.js';
import { make } from '../browser/dom.js';

/** @typedef {{ id: string, name: string, picture?: boolean }} Pictured a character's portrait */

/**
 * Creates a portrait: the drawn face of one of our characters, otherwise initials on a color derived from the id.
 *
 * @param {{ id: string, name: string }} character
 * @returns {HTMLElement}
 */
export function portrait({ id, name }) {
  const made = make('span', 'portrait', face(id) ?? initials(name));
  made.setAttribute('aria-hidden', 'true');
  made.style.setProperty('--hue', String(hue(id)));
  return made;
}

/**
 * Creates a portrait and loads the picture when it scrolls into view: the list may be
 * long.
 *
 * @param {Pictured} character
 * @param {string} key API key; the empty string if the server needs none
 */
export function lazyPortrait(character, key) {
  const place = make('span', 'portrait-place', portrait(character));
  if (character.picture !== true) return place;
  const sight = new IntersectionObserver(([entry]) => {
    if (entry?.isIntersecting !== true) return;
    sight.disconnect();
    showPortrait(place, character, key);
  });
  sight.observe(place);
  return place;
}

/**
 * Shows a character's face or initials, and replaces them with the picture once it is loaded.
 *
 * @param {HTMLElement} place
 * @param {Pictured} character
 * @param {string} key API key; the empty string if the server needs none
 */
export function showPortrait(place, character, key) {
  const drawn = portrait(character);
  place.replaceChildren(drawn);
  if (character.picture !== true) return;
  void fetchPicture(character.id, key).then((image) => {
    // A different portrait may be shown by now.
    if (image !== undefined && drawn.isConnected) drawn.replaceWith(image);
  });
}

/**
 * @param {string} id
 * @param {string} key
 * @returns {Promise<HTMLImageElement | undefined>} undefined if it cannot be shown
 */
async function fetchPicture(id, key) {
  const headers = key === '' ? {} : { authorization: `Bearer ${key}` };
  const reply = await fetch(`/characters/${encodeURIComponent(id)}/picture`, { headers }).catch(() => undefined);
  if (reply?.ok !== true) return undefined;
  const image = make('img', 'portrait');
  image.alt = '';
  image.src = URL.createObjectURL(await reply.blob());
  try {
    await image.decode();
    return image;
  } catch {
    return undefined;
  } finally {
    URL.revokeObjectURL(image.src);
  }
}

/** @param {string} name */
function initials(name) {
  const words = name.split(/[\s'’-]+/).filter((word) => /^\p{Lu}/u.test(word));
  const letters = words.length > 1 ? [words[0], words.at(-1)] : [words[0] ?? name];
  return letters.map((word) => Array.from(word ?? '')[0] ?? '').join('');
}

/**
 * Returns a hue in degrees from a hash of the id; similar ids differ widely.
 *
 * @param {string} id
 */
export function hue(id) {
  let hash = 0x811c9dc5;
  for (const letter of id) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193);
  return (hash >>> 0) % 360;
}
