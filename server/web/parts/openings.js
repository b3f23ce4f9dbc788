import { make } from '../browser/dom.js';
import { portrait } from '../face/portrait.js';

/** @import { Character } from './characters.js' */

/** Questions that each character answers well, the best first. @type {Readonly<Record<string, readonly string[]>>} */
const questions = {
  'sherlock-holmes': [
    'What does my voice tell you?',
    'What was your most interesting case?',
    'Do you play the violin?',
  ],
  alice: ['What happened at the tea party?', 'Who is the Cheshire Cat?', 'How do you play croquet with flamingos?'],
  'captain-nemo': ['Tell me about the Nautilus.', 'Have you seen a giant squid?', 'Why do you hate the surface?'],
  'abraham-lincoln': ['Why do you tell so many jokes?', 'How do you write a speech?', 'Can you wrestle?'],
  coriolanus: ['Why were you banished?', 'Why did you spare Rome?', 'How do you control your anger?'],
  'd-artagnan': ['How did you meet the musketeers?', 'How many duels have you fought?', 'What does all for one mean?'],
  'queen-elizabeth-i': ['Tell me about the Armada.', 'Can a woman rule as well as a man?', 'Do you like the theater?'],
  'sun-wukong': ['Tell me about your staff.', 'Why did you fight heaven?', '你为什么不背着唐僧飞过去？'],
};

/** Questions for any character. */
const general = ['Who are you?', 'Where do you come from?', 'What are you proud of?'];

/** Characters that a new user is invited to talk with. */
const hosts = ['sherlock-holmes', 'alice', 'captain-nemo'];

/**
 * Shows three ways to begin: questions for the chosen character, or one each for three characters.
 *
 * @param {HTMLElement} place
 * @param {readonly Character[]} characters
 * @param {Character | undefined} chosen
 * @param {(character: Character, question: string) => void} onAsk
 */
export function showOpenings(place, characters, chosen, onAsk) {
  const pairs =
    chosen === undefined
      ? hosts.flatMap((id) =>
          characters.filter((each) => each.id === id).map((host) => [host, questionsOf(id)[0] ?? '']),
        )
      : questionsOf(chosen.id).map((question) => [chosen, question]);
  // Scenes begin by themselves.
  const shown = chosen?.scene === undefined ? /** @type {[Character, string][]} */ (pairs) : [];
  place.replaceChildren(
    ...shown.map(([character, question]) => {
      const words = make('span', '', make('q', '', question), ...(chosen === undefined ? [nameOf(character)] : []));
      const button = make('button', 'plain', ...(chosen === undefined ? [portrait(character)] : []), words);
      button.type = 'button';
      button.addEventListener('click', () => onAsk(character, question));
      return make('li', 'suggestion', button);
    }),
  );
}

/** @param {string} id */
function questionsOf(id) {
  return questions[id] ?? general;
}

/** @param {Character} character */
function nameOf({ name }) {
  return make('small', '', `Ask ${name}`);
}
