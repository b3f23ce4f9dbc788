import { openCharacterSearch } from './parts/character-search.js';
import { showBill } from './parts/bill.js';
import { fetchCharacters, markChosen, showCast } from './parts/characters.js';
import { element } from './browser/dom.js';
import { explainServer } from './talk/explanations.js';
import { LlmPanel } from './parts/llm-panel.js';
import { MemoryPanel } from './parts/memories.js';
import { Messages } from './talk/messages.js';
import { ModelPanel } from './parts/model-panel.js';
import { MessageForm } from './talk/message-form.js';
import { MicrophonePicker } from './parts/microphone-picker.js';
import { showOpenings } from './parts/openings.js';
import { openPushToTalk } from './parts/push-to-talk.js';
import { KeyForm } from './parts/key-form.js';
import { readStored, writeStored } from './browser/browser-storage.js';
import { Settings } from './parts/settings.js';
import { SceneView } from './parts/scene-view.js';
import { Recording } from './talk/recording.js';
import { keepTalk, keptTalk, openTranscriptActions } from './talk/saved-talk.js';
import { Desk } from './talk/desk.js';
import { loudness } from './talk/talk-button.js';
import { TalkController } from './talk/talk-controller.js';
import { Transcript } from './talk/transcript.js';

/** @import { Character, ServerFacts } from './parts/characters.js' */
/** @import { KeptTalk } from './talk/saved-talk.js' */
/** @import { ServerError } from '../client/types/api.d.ts' */
/** @import { TalkState } from './talk/talk-state.js' */

const page = {
  cast: element('characters', HTMLUListElement),
  change: element('change', HTMLButtonElement),
  intro: element('intro', HTMLElement),
  openings: element('openings', HTMLElement),
  transcript: element('transcript', HTMLOListElement),
  actions: element('transcript-actions', HTMLElement),
  thoughts: element('thoughts', HTMLInputElement),
  thoughtsWanted: element('thoughts-wanted', HTMLElement),
};
const desk = new Desk({
  tap: tapTalk,
  end: endTalk,
  stop: () => talk?.stop(),
  goOn: () => talk?.goOn(),
});
const messages = new Messages(element('message', HTMLElement));
const transcript = new Transcript(page.transcript, element('announcer', HTMLElement));
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
/** The conversation from before the page was loaded, until it continues. @type {KeptTalk} */
let kept = { utterances: [] };
/** Facts about the server's engines. @type {ServerFacts} */
let server = { isScripted: true, model: null, hears: [] };
const keyForm = new KeyForm(() => {
  messages.clearAll();
  endTalk();
  void load();
});
const scene = new SceneView(element('participants', HTMLUListElement));
const memories = new MemoryPanel({ character: () => chosen, key: () => keyForm.key });
const llm = new LlmPanel(() => keyForm.key);
const models = new ModelPanel(() => keyForm.key);
const settings = new Settings({
  open: () => void models.refresh(),
  change: () => talk?.adopt(),
});
const recording = new Recording();
const form = new MessageForm(() => void say());
const showActions = openTranscriptActions(page.actions, {
  transcript,
  recording,
  character: () => chosen,
  regenerate: () => talk?.revisions?.regenerate(),
  edit: () => form.edit(transcript.lastExchange()[0]?.text ?? ''),
});
openPushToTalk(desk.talk, () => talk);

/** @param {TalkState} state */
function showState(state) {
  const { part, speaker, isUsersTurn: isYours, isOver } = scene;
  desk.show(state, {
    name: chosen?.name,
    hasMicrophone: talk?.hasMicrophone ?? false,
    isMuted: talk?.isMuted ?? false,
    isPushToTalk: settings.isPushToTalk,
    scene: part === 'none' ? undefined : { listens: part === 'listens', speaker, isYours, isOver },
  });
  const canRevise = part === 'none' && talk?.revisions !== undefined && transcript.lastExchange().length > 0;
  showActions({ edit: canRevise, regenerate: canRevise && !server.isScripted && state !== 'thinking' });
}

/** @param {Character} character */
function choose(character) {
  const isOther = chosen?.id !== character.id;
  if (isOther) {
    endTalk();
    transcript.clear();
    recording.clear();
    messages.clear('server');
    messages.clear('unsent');
  }
  chosen = character;
  writeStored('visits', 'character', character.id);
  history.replaceState(null, '', `#${character.id}`);
  markChosen(page.cast, character.id);
  showBill(character, keyForm.key, server.hears);
  if (isOther) scene.show(character.scene);
  page.thoughtsWanted.hidden = character.scene === undefined;
  document.documentElement.dataset.part = scene.part;
  if (isOther) {
    showOpenings(page.openings, characters, character, ask);
    // A scene cannot go on in the middle.
    kept = character.scene === undefined ? keptTalk(character.id) : { utterances: [] };
    transcript.restore(kept.utterances);
    page.intro.hidden = !transcript.isEmpty;
  }
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
  // A conversation from before the page was loaded continues; one that was ended here does not.
  const { utterances, resumption } = kept;
  const isContinued = talk === undefined && utterances.length > 0;
  kept = { utterances: [] };
  endTalk();
  if (!isContinued) {
    transcript.clear();
    recording.clear();
  }
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
    key: keyForm.key,
    user: memories.user,
    thoughts: chosen.scene !== undefined && page.thoughts.checked,
    isContinued,
    resumption: isContinued ? resumption : undefined,
    transcript,
    messages,
    microphoneId: () => picker.deviceId,
    settings,
    recording,
    onState: whileCurrent(showState),
    onLevel: whileCurrent((level) => desk.showLevel(level)),
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
  desk.showLevel(0);
  document.documentElement.style.setProperty('--voice', '0');
  messages.clear('connection');
  messages.clear('silence');
  showState('idle');
}

/** @param {MouseEvent} event */
function tapTalk({ detail }) {
  // A pointer has pressed and released it; a keyboard or a screen reader clicks twice.
  if (talk?.isPushToTalk === true && talk.hasMicrophone && scene.part !== 'listens') {
    if (detail > 0) return;
    if (talk.state === 'hearing') talk.release();
    else talk.press();
    return;
  }
  const state = document.documentElement.dataset.state;
  const isQuiet = state === 'muted' || state === 'listening';
  if (scene.isOver && isQuiet) return void beginTalk(scene.beginsBy);
  if (talk !== undefined && scene.part === 'listens' && state !== 'error')
    return state === 'muted' ? talk.goOn() : talk.stop();
  if (talk === undefined || (state === 'error' && !talk.isRetrying)) void beginTalk(scene.beginsBy);
  else if (state === 'error') talk.retryNow();
  else if (talk.hasMicrophone) talk.mute(!talk.isMuted);
  else if (state !== 'connecting') void talk.openMicrophone();
}

/**
 * @param {Character} character
 * @param {string} question
 */
function ask(character, question) {
  choose(character);
  form.clear();
  form.text = question;
  void say();
  // The button that was pressed is gone.
  page.transcript.focus({ preventScroll: true });
}

async function say() {
  const { text, isEditing } = form;
  if (chosen === undefined) messages.show('unsent', 'Choose a character first.');
  if (text === '' || chosen === undefined) return;
  if (talk === undefined && !(await beginTalk('text'))) return;
  if ((isEditing ? talk?.revisions?.resend(text) : talk?.say(text)) === true) {
    form.clear();
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
  showView('cast');
  keyForm.show();
}

async function load() {
  const found = await fetchCharacters(keyForm.key);
  if (found.status === 401 || found.status === 403) {
    askForKey(keyForm.key === '' ? 'This server requires an API key.' : 'The API key is not valid.');
    return;
  }
  if (found.characters.length === 0) {
    const text = found.status === 0 ? 'The server cannot be reached.' : 'The server has no characters.';
    messages.show('characters', text, { label: 'Try again', run: () => void load() });
    return;
  }
  messages.clear('characters');
  ({ characters, server } = found);
  void memories.offer();
  showCast(page.cast, characters, keyForm.key, choose);
  searchCast();
  void llm.refresh(server);
  const known = byId(location.hash.slice(1)) ?? byId(readStored('visits', 'character'));
  if (known !== undefined) return choose(known);
  if (chosen !== undefined) return;
  showState('idle');
  page.intro.hidden = false;
  for (const id of ['openings', 'cast-openings']) showOpenings(element(id, HTMLElement), characters, undefined, ask);
}

/** @param {string} id */
function byId(id) {
  return characters.find((character) => character.id === id);
}

page.change.addEventListener('click', () => showView('cast'));
addEventListener('hashchange', () => {
  const character = byId(location.hash.slice(1));
  if (character !== undefined) choose(character);
});
addEventListener('pagehide', () => {
  const resumption = talk === undefined ? kept.resumption : talk.resumption;
  keepTalk(chosen?.id ?? '', { utterances: transcript.utterances(), ...(resumption && { resumption }) });
});
showState('idle');
void picker.refresh();
void load();
