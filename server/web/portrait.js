import { portrait } from './characters.js';
import { make } from './dom.js';

/** @typedef {import('./characters.js').Character} Character */

/**
 * Shows a character's initials, and its picture in their place as soon as that is here.
 *
 * @param {HTMLElement} place
 * @param {Character} character
 * @param {string} key of the server; the empty string where it needs none
 */
export function showPortrait(place, character, key) {
  const initials = portrait(character);
  place.replaceChildren(initials);
  if (character.picture !== true) return;
  void fetchPicture(character.id, key).then((image) => {
    // Somebody else may stand there by now.
    if (image !== undefined && initials.isConnected) initials.replaceWith(image);
  });
}

/**
 * @param {string} id
 * @param {string} key
 * @returns {Promise<HTMLImageElement | undefined>} undefined where it cannot be shown
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
