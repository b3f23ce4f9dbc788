import { hearingNote, languageOf, namesOf, workOf } from './characters.js';
import { element } from '../browser/dom.js';
import { showPortrait } from '../face/portrait.js';

/** @import { Character } from './characters.js' */

const page = {
  edit: element('edit', HTMLAnchorElement),
  name: element('name', HTMLElement),
  tagline: element('tagline', HTMLElement),
  work: element('work', HTMLElement),
  portrait: element('portrait', HTMLElement),
  opening: element('opening', HTMLElement),
  instructions: element('instructions', HTMLElement),
};

/**
 * Shows the chosen character above the transcript, and how its conversation begins.
 *
 * @param {Character} character
 * @param {string} key API key; the empty string if the server needs none
 * @param {readonly string[]} hears languages of speech recognition; empty: many
 */
export function showBill(character, key, hears) {
  for (const part of [page.name, page.tagline, page.opening]) part.lang = languageOf(character);
  // Scenes cannot be edited.
  page.edit.hash = character.id.startsWith('scene:') ? '' : character.id;
  page.name.replaceChildren(...namesOf(character));
  page.tagline.textContent = character.tagline;
  page.work.textContent = workOf(character);
  showPortrait(page.portrait, character, key);
  page.opening.textContent = character.greeting ?? '';
  page.instructions.textContent = [instructionsFor(character), hearingNote(character, hears)].join(' ').trim();
  document.title = `${character.name} · Dramatis`;
}

/** @param {Character} character */
function instructionsFor({ scene }) {
  if (scene?.user === 'listener') return 'Tap the button to listen. Headphones are recommended.';
  const who = scene?.user === undefined ? '' : `You are ${scene.user.name}. `;
  return `${who}Tap the button and talk. You can interrupt at any time. Headphones are recommended.`;
}
