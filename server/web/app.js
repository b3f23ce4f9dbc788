import { openCharacterSearch } from './parts/character-search.js';
import { fetchCharacters, languageOf, markChosen, showCast, workOf } from './parts/characters.js';
import { element } from './parts/dom.js';
import { explainServer } from './talk/explanations.js';
import { MemoryPanel } from './parts/memories.js';
import { Messages } from './talk/messages.js';
import { MicrophonePicker } from './parts/microphone-picker.js';
import { showPortrait } from './parts/portrait.js';
import { readStored, writeStored } from './parts/browser-storage.js';
import { SceneView } from './parts/scene-view.js';
import { captions, loudness } from './talk/talk-button.js';
import { TalkController } from './talk/talk-controller.js';
import { Transcript } from './talk/transcript.js';

/** @import { Character } from './parts/characters.js' */
/** @import { ServerError } from '../client/types/api.d.ts' */
/** @import { TalkState } from './talk/talk-state.js' */

const page = {
  cast: element('characters', HTMLUListElement),
  change: element('change', HTMLButtonElement),
  edit: element('edit', HTMLAnchorElement),
  name: element('name', HTMLElement),
  tagline: element('tagline', HTMLElement),
  work: element('work', HTMLElement),
  portrait: element('portrait', HTMLElement),
  intro: element('intro', HTMLElement),
  opening: element('opening', HTMLElement),
  instructions: element('instructions', HTMLElement),
  thoughts: element('thoughts', HTMLInputElement),
  thoughtsWanted: element('thoughts-wanted', HTMLElement),
  keyForm: element('key-form', HTMLFormElement),
  key: element('key', HTMLInputElement),
  sayForm: element('say', HTMLFormElement),
  text: element('text', HTMLInputElement),
  talk: element('talk', HTMLButtonElement),
  status: element('talk-status', HTMLElement),
  hint: element('talk-hint', HTMLElement),
  stop: element('stop', HTMLButtonElement),
  end: element('end', HTMLButtonElement),
  meter: element('meter', HTMLElement),
};
const messages = new Messages(element('message', HTMLElement));
const transcript = new Transcript(element('transcript', HTMLOListElement), element('announcer', HTMLElement));
const picker = new MicrophonePicker(element('microphone', HTMLSelectElement), () => {
  if (talk?.hasMicrophone === true) void talk.openMicrophone();
});

const searchCast = openCharacterSearch(element('find', HTMLInputElement), page.cast);

/** @type {readonly Character[]} */
let characters = [];
/** @type {Character | undefined} */
let chosen;
/** @type {TalkController | undefined} */
let talk;
let key = readStored('tab', 'key');
const scene = new SceneView(element('participants', HTMLUListElement));
const memories = new MemoryPanel({ character: () => chosen, key: () => key });

/** @param {TalkState} state */
function showState(state) {
  const hasMicrophone = talk?.hasMicrophone ?? false;
  const isMuted = talk?.isMuted ?? false;
  const { part, speaker, isUsersTurn: isYours, isOver } = scene;
  const facts = part === 'none' ? {} : { scene: { listens: part === 'listens', speaker, isYours, isOver } };
  const about = { name: chosen?.name ?? 'the character', hasMicrophone, isMuted, ...facts };
  const { action, status, hint } = captions(state, about);
  document.documentElement.dataset.state = state;
  page.talk.dataset.muted = String(hasMicrophone && isMuted);
  page.talk.setAttribute('aria-label', action);
  page.status.textContent = status;
  page.hint.textContent = hint;
  page.talk.disabled = chosen === undefined;
  if (chosen === undefined) page.hint.textContent = 'choose a character first';
  const isBusy = state === 'speaking' || state === 'thinking';
  const canContinue = part === 'plays' && !isOver && (state === 'listening' || state === 'muted');
  page.stop.hidden = !isBusy && !canContinue;
  page.stop.textContent = canContinue ? 'Continue' : 'Stop';
  page.end.hidden = state === 'idle';
}

/** @param {Character} character */
function choose(character) {
  const isOther = chosen?.id !== character.id;
  if (isOther) {
    endTalk();
    transcript.clear();
    messages.clear('server');
    messages.clear('unsent');
  }
  chosen = character;
  writeStored('visits', 'character', character.id);
  history.replaceState(null, '', `#${character.id}`);
  // Scenes cannot be edited.
  page.edit.hash = character.id.startsWith('scene:') ? '' : character.id;
  markChosen(page.cast, character.id);
  for (const part of [page.name, page.tagline, page.opening]) part.lang = languageOf(character);
  page.name.textContent = character.name;
  page.tagline.textContent = character.tagline;
  page.work.textContent = workOf(character);
  showPortrait(page.portrait, character, key);
  page.opening.textContent = character.greeting ?? '';
  if (isOther) scene.show(character.scene);
  page.thoughtsWanted.hidden = character.scene === undefined;
  document.documentElement.dataset.part = scene.part;
  page.instructions.textContent = instructionsFor(scene);
  if (isOther) page.intro.hidden = false;
  document.title = `${character.name} · Dramatis`;
  showView('conversation');
  if (isOther) showState('idle');
}

/** @param {'cast' | 'conversation'} view view on narrow screens; wide ones show both */
function showView(view) {
  document.documentElement.dataset.view = view;
}

/** @param {'voice' | 'text' | 'listen'} by */
async function beginTalk(by) {
  if (chosen === undefined) return false;
  endTalk();
  transcript.clear();
  messages.clearAll();
  page.intro.hidden = true;
  scene.restart();
  /** @type {<T extends unknown[]>(run: (...values: T) => void) => (...values: T) => void} */
  const whileCurrent =
    (run) =>
    (...values) => {
      if (talk === begun) run(...values);
    };
  const begun = new TalkController({
    character: chosen,
    key,
    user: memories.user,
    thoughts: chosen.scene !== undefined && page.thoughts.checked,
    transcript,
    messages,
    microphoneId: () => picker.deviceId,
    onState: whileCurrent(showState),
    onLevel: whileCurrent(showLevel),
    onVoice: whileCurrent((level) => document.documentElement.style.setProperty('--voice', loudness(level).toFixed(2))),
    onScene: whileCurrent((news) => {
      scene.take(news);
      if (talk !== undefined) showState(talk.state);
    }),
    onMicrophone: () => void picker.refresh(),
    onRefused: whileCurrent(refused),
  });
  talk = begun;
  return begun.begin(by);
}

function endTalk() {
  const ending = talk;
  talk = undefined;
  ending?.end();
  showLevel(0);
  document.documentElement.style.setProperty('--voice', '0');
  messages.clear('connection');
  messages.clear('silence');
  showState('idle');
}

/** @param {number} level root mean square */
function showLevel(level) {
  const share = loudness(level);
  page.talk.style.setProperty('--level', share.toFixed(2));
  page.meter.style.setProperty('--level', share.toFixed(2));
  page.meter.setAttribute('aria-valuenow', String(Math.round(share * 100)));
}

function tapTalk() {
  const state = document.documentElement.dataset.state;
  const isQuiet = state === 'muted' || state === 'listening';
  if (scene.isOver && isQuiet) return void beginTalk(modeOf(scene));
  if (talk !== undefined && scene.part === 'listens' && state !== 'error')
    return state === 'muted' ? talk.goOn() : talk.stop();
  if (talk === undefined || (state === 'error' && !talk.isRetrying)) void beginTalk(modeOf(scene));
  else if (state === 'error') talk.retryNow();
  else if (talk.hasMicrophone) talk.mute(!talk.isMuted);
  else if (state !== 'connecting') void talk.openMicrophone();
}

/**
 * @param {SceneView} scene
 * @returns {'voice' | 'listen'} how the conversation starts
 */
function modeOf({ part }) {
  return part === 'listens' ? 'listen' : 'voice';
}

/** @param {SceneView} scene */
function instructionsFor({ part, userName }) {
  if (part === 'listens') return 'Tap the button to listen. Headphones are recommended.';
  const who = userName === undefined ? '' : `You are ${userName}. `;
  return `${who}Tap the button and talk. You can interrupt at any time. Headphones are recommended.`;
}

/** @param {SubmitEvent} event */
async function say(event) {
  event.preventDefault();
  const text = page.text.value.trim();
  if (chosen === undefined) messages.show('unsent', 'Choose a character first.');
  if (text === '' || chosen === undefined) return;
  if (talk === undefined && !(await beginTalk('text'))) return;
  if (talk?.say(text) === true) {
    page.text.value = '';
    messages.clear('unsent');
  } else {
    messages.show('unsent', 'Not sent: there is no connection yet. Your text is still in the text box.');
  }
}

/** @param {ServerError} [error] */
function refused(error) {
  if (error === undefined) askForKey('The server rejected the conversation. If it requires an API key, enter it here.');
  else if (error.code === 'invalid_api_key') askForKey('The API key is not valid.');
  else {
    const text = explainServer(error);
    if (text !== undefined) messages.show('server', text);
    // The character was deleted since the list was fetched.
    if (error.code === 'unknown_character') void load();
  }
}

/** @param {string} reason */
function askForKey(reason) {
  messages.show('key', reason);
  page.keyForm.hidden = false;
  showView('cast');
  page.key.focus();
}

/** @param {SubmitEvent} event */
function takeKey(event) {
  event.preventDefault();
  key = page.key.value.trim();
  writeStored('tab', 'key', key);
  page.key.value = '';
  page.keyForm.hidden = true;
  messages.clearAll();
  endTalk();
  void load();
}

async function load() {
  const found = await fetchCharacters(key);
  if (found.status === 401 || found.status === 403) {
    askForKey(key === '' ? 'This server requires an API key.' : 'The API key is not valid.');
    return;
  }
  if (found.characters.length === 0) {
    const text = found.status === 0 ? 'The server cannot be reached.' : 'The server has no characters.';
    messages.show('characters', text, { label: 'Try again', run: () => void load() });
    return;
  }
  messages.clear('characters');
  characters = found.characters;
  showCast(page.cast, characters, key, choose);
  searchCast();
  const known = byId(location.hash.slice(1)) ?? byId(readStored('visits', 'character'));
  if (known !== undefined) choose(known);
  else if (chosen === undefined) showState('idle');
}

/** @param {string} id */
function byId(id) {
  return characters.find((character) => character.id === id);
}

page.talk.addEventListener('click', tapTalk);
page.end.addEventListener('click', endTalk);
page.stop.addEventListener('click', () => {
  if (page.stop.textContent === 'Continue') talk?.goOn();
  else talk?.stop();
});
page.sayForm.addEventListener('submit', (event) => void say(event));
page.keyForm.addEventListener('submit', takeKey);
page.change.addEventListener('click', () => showView('cast'));
document.addEventListener('keydown', ({ key: pressed }) => {
  if (pressed === 'Escape' && page.stop.textContent !== 'Continue' && !page.stop.hidden) talk?.stop();
});
addEventListener('hashchange', () => {
  const character = byId(location.hash.slice(1));
  if (character !== undefined) choose(character);
});
showState('idle');
void picker.refresh();
void load();
