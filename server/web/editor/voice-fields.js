import { make } from '../browser/dom.js';
import { pronunciationRows } from './card-rows.js';
import { group, leaf } from './field.js';
import { section } from './section.js';

/** @typedef {import('./field.js').Field} Field */
/** @typedef {import('./fields.js').Fields} Fields */

/**
 * A voice of the library, as listed by the server.
 *
 * @typedef {object} LibraryVoice
 * @property {string} id
 * @property {string} language
 * @property {string} licence
 * @property {{ note: string, recordedAt: string }} consent
 * @property {string} transcript
 * @property {number} seconds
 */

/**
 * @typedef {{ readonly voices: readonly LibraryVoice[],
 *   readonly clipOf: (id: string) => Promise<Blob> }} VoiceLibrary
 */

/** Labels and defaults of the presets for the server's built-in TTS engines. */
const PRESETS = {
  flite: { title: 'English, built-in engine (Flite)', hint: 'rms, awb, slt or kal16', blank: 'rms' },
  espeak: {
    title: 'Other languages, built-in engine (eSpeak NG)',
    hint: 'A language, optionally with a voice variant, such as cmn+f2',
    blank: 'cmn',
  },
};

/**
 * Creates the fields for voice, speech and turn-taking.
 *
 * @param {Fields} card
 * @param {VoiceLibrary} library
 * @returns {Record<string, Field>}
 */
export function voiceFields(card, library) {
  const voice = card.inside('voice');
  const speech = card.inside('speech');
  const turns = card.inside('turnTaking');
  return {
    voice: section('Voice', {
      gender: voice.choice('gender', { label: 'Gender of the voice' }),
      description: voice.line('description', { label: 'Description', hint: 'Age, timbre, accent, pace.' }),
      reference: clip(voice, library),
      flite: preset(voice, 'flite'),
      espeak: preset(voice, 'espeak'),
    }),
    speech: section('Speech', {
      pace: speech.slider('pace', { label: 'Pace', ends: ['slower', 'faster'], usually: 1 }),
      pronunciations: pronunciationRows(speech),
    }),
    turnTaking: section('Turns', {
      patience: turns.slider('patience', {
        label: 'Patience',
        hint: 'How long the character waits after you pause.',
        ends: ['replies at once', 'waits longer'],
        usually: 0.5,
      }),
      interruptibility: turns.slider('interruptibility', {
        label: 'Interruptibility',
        hint: 'What the character does if you interrupt.',
        ends: ['keeps talking', 'stops at once'],
        usually: 0.7,
      }),
      backchannels: turns.slider('backchannels', {
        label: 'Backchannels',
        hint: 'How often the character says “mm-hm” while you speak.',
        ends: ['never', 'often'],
        usually: 0.2,
      }),
    }),
  };
}

/**
 * Creates the picker of the reference clip for voice cloning: the voices of the library, each shown
 * with its consent and licence.
 *
 * @param {Fields} voice
 * @param {VoiceLibrary} library
 * @returns {Field}
 */
function clip(voice, { voices, clipOf }) {
  const input = make('select', '');
  const chosen = voice.valueOf('reference') ?? '';
  input.append(new Option('None: use a voice of the engine', ''));
  input.append(...voices.map(({ id, language }) => new Option(`${id} (${language})`, id)));
  // The card may name a voice that is not in this server's library.
  if (chosen !== '' && !voices.some(({ id }) => id === chosen))
    input.append(new Option(`${chosen} (not in this library)`, chosen));
  input.value = chosen;
  input.disabled = voice.isReadOnly;
  const facts = make('div', 'clip');
  const show = () =>
    facts.replaceChildren(
      ...factsOf(
        voices.find(({ id }) => id === input.value),
        input.value,
        clipOf,
      ),
    );
  input.addEventListener('input', () => {
    voice.set('reference', input.value === '' ? undefined : input.value);
    show();
  });
  show();
  const hint =
    voices.length === 0
      ? 'The voice library is empty. Add recordings, with the speaker’s consent, by dramatis voices add.'
      : 'Used by engines that clone voices.';
  return leaf(input, { label: 'Reference clip from the voice library', hint, name: 'reference' }, facts);
}

/**
 * @param {LibraryVoice | undefined} voice
 * @param {string} id
 * @param {VoiceLibrary['clipOf']} clipOf
 * @returns {HTMLElement[]}
 */
function factsOf(voice, id, clipOf) {
  if (voice === undefined) {
    return id === '' ? [] : [make('p', 'hint', 'This server does not have the voice, so the setting is ignored.')];
  }
  const { consent, licence, transcript, seconds } = voice;
  const listen = make('button', 'small', 'Listen');
  listen.type = 'button';
  listen.addEventListener('click', () => void play(listen, () => clipOf(voice.id)));
  const facts = make('dl', '');
  const since = consent.recordedAt.slice(0, 10);
  for (const [term, text] of [
    ['Consent', `${consent.note} (noted ${since})`],
    ['Licence', licence],
    ['Transcript', `“${transcript}” (${seconds.toFixed(1)} s)`],
  ]) {
    facts.append(make('dt', '', term ?? ''), make('dd', '', text ?? ''));
  }
  return [facts, listen];
}

/**
 * @param {HTMLButtonElement} button
 * @param {() => Promise<Blob>} fetchClip
 */
async function play(button, fetchClip) {
  button.disabled = true;
  try {
    const audio = new Audio(URL.createObjectURL(await fetchClip()));
    audio.addEventListener('ended', () => URL.revokeObjectURL(audio.src));
    await audio.play();
    button.textContent = 'Listen';
  } catch {
    button.textContent = 'Playback failed';
  }
  button.disabled = false;
}

/**
 * Creates the fields of a built-in engine's preset; without one, the voice is chosen by gender.
 *
 * @param {Fields} voice
 * @param {'flite' | 'espeak'} key
 * @returns {Field}
 */
function preset(voice, key) {
  const { title, hint, blank } = PRESETS[key];
  const node = make('fieldset', 'preset', make('legend', '', title));
  const own = make('input', '');
  Object.assign(own, { type: 'checkbox', checked: voice.valueOf(key) !== undefined, disabled: voice.isReadOnly });
  const toggle = leaf(own, { label: 'Set the voice', hint: 'Otherwise chosen by gender.', name: key, beside: true });
  /** Keeps the values while the box is not ticked. */
  let kept = voice.valueOf(key) ?? { id: blank };
  /** @type {Field[]} */
  let shown = [];
  const show = () => {
    for (const field of shown) field.node.remove();
    shown = [];
    if (!own.checked) return;
    const fields = voice.inside(key);
    shown = [
      fields.line('id', { label: 'Voice id', hint }),
      fields.slider('pitch', { label: 'Pitch', ends: ['lower', 'higher'], usually: 1 }),
      fields.slider('rate', { label: 'Rate', ends: ['slower', 'faster'], usually: 1 }),
    ];
    node.append(...shown.map((field) => field.node));
  };
  own.addEventListener('input', () => {
    if (!own.checked) kept = voice.valueOf(key) ?? kept;
    voice.set(key, own.checked ? kept : undefined);
    show();
  });
  node.append(toggle.node);
  show();
  const whole = group(node, title, {});
  return {
    ...whole,
    at: ([part, ...rest]) => shown[['id', 'pitch', 'rate'].indexOf(part ?? '')]?.at(rest) ?? whole,
  };
}
