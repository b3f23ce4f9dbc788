import { isAbout } from '../../client/is-about.js';
import { explainServer } from './explanations.js';
import { Replies } from './replies.js';

/** @import { ServerError, SpeechEvent, Talk, TalkEvent, WordsEvent } from '../../client/types/api.d.ts' */
/** @import { Entry, Transcript } from './transcript.js' */
/** @import { Messages } from './messages.js' */
/** @import { SceneNews } from '../parts/scene-view.js' */
/** @import { TurnStart } from './turn.js' */

/** After a lost session, so many utterances are told to the new one. */
const RETOLD = 40;

/** The person's side: what was said, by voice or in writing, and what is expected in answer. */
/** Silence after a reply from which on the character may speak up. */
const SILENT_MS = 30_000;

export class Conversation {
  #options;
  #replies;
  /** @type {Map<string, Entry>} by item: speech that is not yet understood */
  #spoken = new Map();
  /** What the next response will answer. @type {TurnStart | undefined} */
  #start;
  #isExpecting = false;
  /** The person stopped a reply that had not even begun. */
  #isUnwanted = false;
  /** The person speaks. */
  isHearing = false;

  /**
   * @param {object} options
   * @param {string} options.characterName
   * @param {string} options.language the character's, as a tag
   * @param {Pick<Talk, 'send' | 'say' | 'interrupt' | 'isAudible'>} options.wire
   * @param {Transcript} options.transcript
   * @param {Messages} options.messages
   * @param {() => void} options.onChange something about who is speaking has changed
   * @param {() => void} options.onHeard the person was heard
   * @param {(news: SceneNews) => void} options.onScene
   */
  constructor(options) {
    this.#options = options;
    this.#replies = new Replies({
      addEntry: (speaker) =>
        options.transcript.add('character', speaker?.name ?? options.characterName, options.language, speaker?.id),
      isAudible: () => options.wire.isAudible,
      onFailed: (error) => this.#report(error),
      onScene: (news) => this.#tellScene(news),
    });
  }

  /** A reply is on its way. */
  get isAwaiting() {
    return this.#isExpecting || this.#replies.isUnderWay;
  }

  /** @param {TalkEvent} event */
  handle(event) {
    if (event.type === 'response.created') {
      this.#replies.begin(event.response, this.#start);
      this.#start = undefined;
      this.#isExpecting = false;
      if (this.#isUnwanted) this.stop();
      this.#isUnwanted = false;
    } else if (isAbout(event, 'response.') || event.type === 'x_dramatis.resume' || event.type === 'x_dramatis.cue')
      this.#replies.handle(event);
    else if (event.type === 'x_dramatis.voice') this.#replies.hearVoice(event);
    else if (isAbout(event, 'playback.')) this.#replies.play(event);
    else if (isAbout(event, 'input_audio_buffer.')) this.#handleSpeech(event);
    else if (isAbout(event, 'conversation.item.') || event.type === 'error') this.#handleWords(event);
    // Progress changes nothing about who is speaking.
    if (event.type !== 'playback.progress') this.#options.onChange();
  }

  /** @param {boolean} may whether the character may speak up, once, into a long silence of the person */
  speakUp(may) {
    const detection = { type: 'semantic_vad', idle_timeout_ms: may ? SILENT_MS : null };
    this.#options.wire.send({ type: 'session.update', session: { audio: { input: { turn_detection: detection } } } });
  }

  /** Asks the character to speak first. */
  greet() {
    this.#expect({ kind: 'greeting', atMs: performance.now() });
    const response = { metadata: { purpose: 'greeting' }, x_dramatis: { greeting: true } };
    this.#options.wire.send({ type: 'response.create', response });
  }

  /**
   * Says something in writing. It interrupts, as speech does.
   *
   * @param {string} text
   * @returns {boolean} false where it could not be sent
   */
  say(text) {
    if (!this.#options.wire.say(text)) return false;
    const entry = this.#options.transcript.add('user', 'You');
    entry.text = text;
    entry.close('done');
    this.#expect({ kind: 'text', atMs: performance.now() });
    return true;
  }

  /** Lets the next of a scene speak. */
  goOn() {
    this.#isExpecting = this.#options.wire.send({ type: 'response.create' });
    this.#options.onChange();
  }

  /** @param {SceneNews} news */
  #tellScene(news) {
    if (news.type === 'over') this.#options.transcript.dropCurtain();
    this.#options.onScene(news);
  }

  /** Stops the reply, whether it is sounding or only on its way. */
  stop() {
    this.#isUnwanted = this.#isExpecting;
    this.#isExpecting = false;
    void this.#options.wire.interrupt();
  }

  /** The session is gone, and with it whatever was on its way. */
  lose() {
    this.loseSpeech();
    this.#isExpecting = false;
    this.#replies.abandon();
  }

  /** What was being said did not arrive. */
  loseSpeech() {
    for (const entry of this.#spoken.values()) closeSpoken(entry);
    this.#spoken.clear();
    this.isHearing = false;
  }

  /** Tells a new session what the lost one knew. */
  retell() {
    for (const { role, text } of this.#options.transcript.history().slice(-RETOLD)) {
      const isUser = role === 'user';
      const content = [{ type: isUser ? 'input_text' : 'output_text', text }];
      const item = { type: 'message', role: isUser ? 'user' : 'assistant', content };
      this.#options.wire.send({ type: 'conversation.item.create', item });
    }
  }

  /** @param {SpeechEvent} event */
  #handleSpeech(event) {
    switch (event.type) {
      case 'input_audio_buffer.speech_started':
        this.isHearing = true;
        this.#isUnwanted = false;
        this.#options.onHeard();
        this.#spokenEntry(event.item_id);
        break;
      case 'input_audio_buffer.speech_stopped':
        this.isHearing = false;
        this.#expect({ kind: 'speech', atMs: performance.now() });
        break;
      case 'input_audio_buffer.cleared':
        this.loseSpeech();
        break;
      default:
    }
  }

  /** @param {WordsEvent} event */
  #handleWords(event) {
    switch (event.type) {
      case 'conversation.item.input_audio_transcription.delta': {
        const entry = this.#spokenEntry(event.item_id);
        entry.text = event.x_dramatis?.text ?? entry.text + event.delta;
        break;
      }
      case 'conversation.item.input_audio_transcription.completed': {
        const entry = this.#understood(event.item_id);
        entry.text = event.transcript.trim();
        if (entry.text === '') this.#isExpecting = false;
        closeSpoken(entry);
        break;
      }
      case 'conversation.item.input_audio_transcription.failed': {
        const entry = this.#understood(event.item_id);
        entry.note('failed', explainServer(event.error) ?? 'Not understood.');
        entry.close('done');
        this.#isExpecting = false;
        break;
      }
      case 'error':
        this.#isExpecting = false;
        this.#report(event.error);
        break;
      default:
    }
  }

  /** @param {ServerError | undefined} error */
  #report(error) {
    const text = explainServer(error);
    if (text !== undefined) this.#options.messages.show('server', text);
  }

  /** @param {TurnStart} start */
  #expect(start) {
    this.#start = start;
    this.#isExpecting = true;
    this.#isUnwanted = false;
    this.#options.messages.clear('server');
    this.#options.onChange();
  }

  /** @param {string} itemId */
  #spokenEntry(itemId) {
    const entry = this.#spoken.get(itemId) ?? this.#options.transcript.add('user', 'You');
    this.#spoken.set(itemId, entry);
    return entry;
  }

  /** @param {string} itemId */
  #understood(itemId) {
    const entry = this.#spokenEntry(itemId);
    this.#spoken.delete(itemId);
    return entry;
  }
}

/** @param {Entry} entry nothing more will be understood of it */
function closeSpoken(entry) {
  if (entry.text.trim() === '') entry.remove();
  else entry.close('done');
}
