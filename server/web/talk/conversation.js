import { hasTypePrefix } from '../../client/has-type-prefix.js';
import { explainServer } from './explanations.js';
import { Items } from './items.js';
import { Replies } from './replies.js';

/** @import { ServerError, SpeechEvent, Talk, TalkEvent, ConversationItemEvent } from '../../client/types/api.d.ts' */
/** @import { Entry, Transcript } from './transcript.js' */
/** @import { Messages } from './messages.js' */
/** @import { SceneEvent } from '../parts/scene-view.js' */
/** @import { TurnStart } from './turn.js' */

/** Silence after a reply, after which the character may speak on its own. */
const SILENT_MS = 30_000;

/** The user's side of the conversation: their speech and messages, and whether a reply is expected. */
export class Conversation {
  #options;
  #items;
  #replies;
  /** @type {Map<string, Entry>} by item: speech without a final transcript */
  #spoken = new Map();
  /** Start of the turn that the next response answers. @type {TurnStart | undefined} */
  #start;
  #isExpecting = false;
  /** True if the user stopped a reply before it started. */
  #isUnwanted = false;
  /** True with push-to-talk. */
  #isManual = false;
  /** Turn detection that was last sent to the session. @type {string | undefined} */
  #listening;
  /** True while the user speaks. */
  isHearing = false;

  /**
   * @param {object} options
   * @param {string} options.characterName
   * @param {string} options.language language tag of the character
   * @param {Pick<Talk, 'send' | 'say' | 'interrupt' | 'isAudible'>} options.wire
   * @param {Transcript} options.transcript
   * @param {Messages} options.messages
   * @param {() => void} options.onChange the state of the conversation has changed
   * @param {() => void} options.onHeard speech of the user was detected
   * @param {(news: SceneEvent) => void} options.onScene
   */
  constructor(options) {
    this.#options = options;
    this.#items = new Items(options.wire, options.transcript);
    this.#replies = new Replies({
      addEntry: (speaker) =>
        options.transcript.add('character', speaker?.name ?? options.characterName, options.language, speaker?.id),
      isAudible: () => options.wire.isAudible,
      onFailed: (error) => this.#report(error),
      onScene: (news) => this.#tellScene(news),
    });
  }

  /** True while a reply is expected or in progress. */
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
    } else if (
      hasTypePrefix(event, 'response.') ||
      event.type === 'x_dramatis.resume' ||
      event.type === 'x_dramatis.cue'
    )
      this.#replies.handle(event);
    else if (event.type === 'x_dramatis.voice') this.#replies.hearVoice(event);
    else if (hasTypePrefix(event, 'playback.')) this.#replies.play(event);
    else if (hasTypePrefix(event, 'input_audio_buffer.')) this.#handleSpeech(event);
    else if (hasTypePrefix(event, 'conversation.item.') || event.type === 'error') this.#handleWords(event);
    // Playback progress does not change the state.
    if (event.type !== 'playback.progress') this.#options.onChange();
  }

  /**
   * Tells the server how to detect the user's turns.
   *
   * @param {object} how
   * @param {boolean} how.isManual the user marks when a turn begins and ends: push-to-talk
   * @param {boolean} how.maySpeakUp whether the character may speak, once, after a long silence of the user
   */
  listen({ isManual, maySpeakUp }) {
    const automatic = { type: 'semantic_vad', idle_timeout_ms: maySpeakUp ? SILENT_MS : null };
    const input = { turn_detection: isManual ? null : automatic };
    // Push-to-talk opens and closes the microphone at each turn.
    if (this.#listening === JSON.stringify(input)) return;
    this.#listening = JSON.stringify(input);
    this.#isManual = isManual;
    this.#options.wire.send({ type: 'session.update', session: { audio: { input } } });
  }

  /** Push-to-talk: the user begins to speak. */
  press() {
    this.stop();
    this.isHearing = true;
    this.#options.onHeard();
    this.#options.onChange();
  }

  /**
   * Push-to-talk: the user has finished.
   *
   * @param {boolean} isTurn false: what was recorded is dropped
   */
  release(isTurn) {
    const { wire } = this.#options;
    this.isHearing = false;
    if (!isTurn) wire.send({ type: 'input_audio_buffer.clear' });
    else if (wire.send({ type: 'input_audio_buffer.commit' })) {
      wire.send({ type: 'response.create' });
      this.#expect({ kind: 'speech', atMs: performance.now() });
    }
    this.#options.onChange();
  }

  /** Asks the character to speak first. */
  greet() {
    this.#expect({ kind: 'greeting', atMs: performance.now() });
    const response = { metadata: { purpose: 'greeting' }, x_dramatis: { greeting: true } };
    this.#options.wire.send({ type: 'response.create', response });
  }

  /**
   * Sends a text message. Interrupts the current reply, as speech does.
   *
   * @param {string} text
   * @returns {boolean} false if it could not be sent
   */
  say(text) {
    if (!this.#options.wire.say(text)) return false;
    const entry = this.#options.transcript.add('user', 'You');
    entry.text = text;
    entry.close('done');
    this.#expect({ kind: 'text', atMs: performance.now() });
    return true;
  }

  /** Replaces the last reply by another. @returns {boolean} false if there is none, or no connection */
  regenerate() {
    const [asked, ...replies] = this.#options.transcript.lastExchange();
    if (asked === undefined || replies.length === 0) return false;
    this.stop();
    this.#items.withdraw(replies);
    if (!this.#options.wire.send({ type: 'response.create' })) return false;
    this.#expect({ kind: 'text', atMs: performance.now() });
    return true;
  }

  /**
   * Replaces the user's last message, and forgets the reply to it.
   *
   * @param {string} text
   * @returns {boolean} false if it could not be sent
   */
  resend(text) {
    this.stop();
    this.#items.withdraw(this.#options.transcript.lastExchange());
    return this.say(text);
  }

  /** Lets the scene continue with the next speaker. */
  continueScene() {
    this.#isExpecting = this.#options.wire.send({ type: 'response.create' });
    this.#options.onChange();
  }

  /** @param {SceneEvent} news */
  #tellScene(news) {
    if (news.type === 'over') this.#options.transcript.dropCurtain();
    this.#options.onScene(news);
  }

  /** Stops the reply, whether it is being played or only expected. */
  stop() {
    this.#isUnwanted = this.#isExpecting;
    this.#isExpecting = false;
    void this.#options.wire.interrupt();
  }

  /** Resets the state because the session is gone. */
  lose() {
    this.loseSpeech();
    this.#listening = undefined;
    this.#isExpecting = false;
    this.#replies.abandon();
  }

  /** Tells a new session the conversation so far. */
  retell() {
    this.lose();
    this.#items.sendHistory();
  }

  /** Drops speech in progress, which did not reach the server. */
  loseSpeech() {
    for (const entry of this.#spoken.values()) closeSpoken(entry);
    this.#spoken.clear();
    this.isHearing = false;
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
      case 'input_audio_buffer.committed':
        if (this.#isManual) this.#spokenEntry(event.item_id);
        break;
      case 'input_audio_buffer.cleared':
        this.loseSpeech();
        break;
      default:
    }
  }

  /** @param {ConversationItemEvent} event */
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
        closeSpoken(this.#understood(event.item_id));
        this.#isExpecting = false;
        this.#report(event.error);
        break;
      }
      case 'conversation.item.added':
        this.#items.learn(event.item);
        break;
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
    entry.itemId = itemId;
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

/** @param {Entry} entry its transcript is final */
function closeSpoken(entry) {
  if (entry.text.trim() === '') entry.remove();
  else entry.close('done');
}
