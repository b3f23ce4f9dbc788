import { make } from '../browser/dom.js';
import { readStored, writeStored } from '../browser/browser-storage.js';

/** @import { Resumption } from '../../client/types/api.d.ts' */
/** @import { Recording } from './recording.js' */
/** @import { Transcript, Utterance } from './transcript.js' */

/** Name of the stored conversation. */
const NAME = 'talk';

/**
 * A conversation of an earlier page.
 *
 * @typedef {object} KeptTalk
 * @property {Utterance[]} utterances
 * @property {Resumption} [resumption] absent if its session cannot be resumed
 */

/**
 * Keeps a conversation until the tab is closed, so that a reload brings it back.
 *
 * @param {string} character its id
 * @param {KeptTalk} talk without utterances: forgets the conversation
 */
export function keepTalk(character, talk) {
  writeStored('tab', NAME, talk.utterances.length === 0 ? '' : JSON.stringify({ character, ...talk }));
}

/**
 * @param {string} character its id
 * @returns {KeptTalk} without utterances if the last conversation of this tab was with another character
 */
export function keptTalk(character) {
  try {
    const { character: whose, utterances, resumption } = JSON.parse(readStored('tab', NAME) || '{}');
    if (whose === character && Array.isArray(utterances)) return { utterances, resumption };
  } catch {
    // What was stored is of no use.
  }
  return { utterances: [] };
}

/**
 * Sets up the buttons that change, copy and save the transcript.
 *
 * @param {HTMLElement} bar
 * @param {object} talk
 * @param {Transcript} talk.transcript
 * @param {Recording} talk.recording
 * @param {() => { id: string, name: string } | undefined} talk.character
 * @param {() => void} talk.regenerate
 * @param {() => void} talk.edit
 * @returns {(can: { regenerate: boolean, edit: boolean }) => void} shows what can be done now
 */
export function openTranscriptActions(bar, { transcript, recording, character, regenerate, edit }) {
  const said = make('span', 'unseen');
  said.setAttribute('role', 'status');
  const add = (/** @type {string} */ label, /** @type {() => unknown} */ run) => {
    const button = make('button', 'plain', label);
    button.type = 'button';
    button.addEventListener('click', () => void run());
    bar.append(button);
    return button;
  };
  const again = add('Regenerate', regenerate);
  const change = add('Edit', edit);
  change.title = 'Edit and resend the last message';
  const copy = add('Copy', async () => {
    await navigator.clipboard.writeText(asText(transcript.utterances()));
    copy.textContent = 'Copied';
    said.textContent = 'The transcript is in the clipboard.';
    setTimeout(() => (copy.textContent = 'Copy'), 2_000);
  });
  add('Save text', () => save(`${fileName(character())}.txt`, textFile('text/plain', asText(transcript.utterances()))));
  add('Save JSON', () => {
    const { id, name } = character() ?? { id: '', name: '' };
    const utterances = transcript.utterances();
    const saved = { character: { id, name }, saved: new Date().toISOString(), utterances };
    save(`${fileName(character())}.json`, textFile('application/json', JSON.stringify(saved, null, 2)));
  });
  add('Save sound', () => {
    if (recording.isEmpty) said.textContent = 'Nothing was said since the page was loaded.';
    else save(`${fileName(character())}.wav`, recording.asWav());
  });
  // A page over plain http has no clipboard.
  copy.hidden = navigator.clipboard === undefined;
  bar.append(said);
  return (can) => {
    bar.hidden = transcript.isEmpty;
    again.hidden = !can.regenerate;
    change.hidden = !can.edit;
  };
}

/** @param {readonly Utterance[]} utterances */
function asText(utterances) {
  const cut = (/** @type {string} */ status) => (status === 'interrupted' ? ' (interrupted)' : '');
  return utterances.map(({ who, text, status }) => `${who}: ${text}${cut(status)}\n`).join('\n');
}

/** @param {{ id: string } | undefined} character */
function fileName(character) {
  const day = new Date().toISOString().slice(0, 10);
  return `dramatis-${(character?.id ?? 'talk').replaceAll(/[^\w-]+/g, '-')}-${day}`;
}

/**
 * @param {string} type
 * @param {string} text
 */
function textFile(type, text) {
  return new Blob([text], { type: `${type};charset=utf-8` });
}

/**
 * @param {string} name
 * @param {Blob} content
 */
function save(name, content) {
  const link = make('a', '');
  link.download = name;
  link.href = URL.createObjectURL(content);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
