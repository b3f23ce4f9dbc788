import { hasTypePrefix } from '../../client/has-type-prefix.js';
import { explainServer } from './explanations.js';
import { Replies } from './replies.js';

/** @import { ServerError, SpeechEvent, Talk, TalkEvent, ConversationItemEvent } from '../../client/types/api.d.ts' */
/** @import { Entry, Transcript } from './transcript.js' */
/** @import { Messages } from './messages.js' */
/** @import { SceneEvent } from '../parts/scene-view.js' */
/** @import { TurnStart } from './turn.js' */

/** Latest utterances to send to the new session after one was lost. */
const RETOLD = 40;

/** Silence after a reply, after which the character may speak on its own. */
const SILENT_MS = 30_000;

/** The user's side of the conversation: their speech and messages, and whether a reply is expected. */
export class Conversation {
  #options;
  #replies;
  /** @type {Map<string, Entry>} by item: speech without a final transcript */
  #spoken = new Map();
  /** Start of the turn that the next response answers. @type {TurnStart | undefined} */
  #start;
  #isExpecting = false;
  /** True if the user stopped a reply before it started. */
  #isUnwanted = false;
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
   * @param {boolean} may whether the character may speak, once, after a long silence of the user
   */
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
    this.#isExpecting = false;
    this.#replies.abandon();
  }

  /** Drops speech in progress, which did not reach the server. */
  loseSpeech() {
    for (const entry of this.#spoken.values()) closeSpoken(entry);
    this.#spoken.clear();
    this.isHearing = false;
  }

  /** Sends the history to a new session. */
  sendHistory() {
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

/** @param {Entry} entry its transcript is final */
function closeSpoken(entry) {
  if (entry.text.trim() === '') entry.remove();
  else entry.close('done');
}
