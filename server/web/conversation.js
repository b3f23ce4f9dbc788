import { explainServer } from './explanations.js';
import { Replies, UNASKED } from './replies.js';

/** @import { ServerEvent } from './realtime.js' */
/** @import { Entry, Transcript } from './transcript.js' */
/** @import { Messages } from './messages.js' */
/** @import { TurnStart } from './turn.js' */

/** After a lost connection, so many utterances are told to the new session. */
const RETOLD = 40;

/** The person's side: what was said, by voice or in writing, and what is expected in answer. */
export class Conversation {
  #options;
  /** @type {Map<string, Entry>} by item: speech that is not yet understood */
  #spoken = new Map();
  /** What the next response will answer. @type {TurnStart | undefined} */
  #start;
  #isExpecting = false;
  /** The person stopped a reply that had not even begun. */
  #isUnwanted = false;
  /** An answer to what was written is to be asked for as soon as the server is free. */
  #isReplyOwed = false;
  /** The person speaks. */
  isHearing = false;

  /**
   * @param {object} options
   * @param {string} options.characterName
   * @param {string} options.language the character's, as a tag
   * @param {(event: Readonly<Record<string, unknown>>) => boolean} options.send
   * @param {Transcript} options.transcript
   * @param {Messages} options.messages
   * @param {() => void} options.onChange something about who is speaking has changed
   * @param {() => void} options.onHeard the person was heard
   */
  constructor(options) {
    this.#options = options;
    this.replies = new Replies({
      addEntry: () => options.transcript.add('character', options.characterName, options.language),
      send: options.send,
      onFailed: (error) => this.#report(error),
      onChange: options.onChange,
    });
  }

  /** A reply is on its way. */
  get isAwaiting() {
    return this.#isExpecting || this.replies.isUnderWay;
  }

  /** @param {ServerEvent} event */
  handle(event) {
    if (event.type === 'response.created') this.#responseCreated(event);
    else if (event.type.startsWith('response.')) this.replies.handle(event);
    else if (event.type.startsWith('input_audio_buffer.')) this.#handleSpeech(event);
    else this.#handleWords(event);
    this.#askForReply();
    this.#options.onChange();
  }

  /** Asks the character to speak first. */
  greet() {
    this.#expect({ kind: 'greeting', atMs: performance.now() });
    const response = { metadata: { purpose: 'greeting' }, x_dramatis: { greeting: true } };
    this.#options.send({ type: 'response.create', response });
  }

  /**
   * Says something in writing. It interrupts, as speech does.
   *
   * @param {string} text
   * @returns {boolean} false where it could not be sent
   */
  say(text) {
    if (this.replies.isPlaying || this.isAwaiting) this.stop();
    const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
    if (!this.#options.send({ type: 'conversation.item.create', item })) return false;
    this.#isReplyOwed = true;
    this.#askForReply();
    const entry = this.#options.transcript.add('user', 'You');
    entry.text = text;
    entry.close('done');
    this.#expect({ kind: 'text', atMs: performance.now() });
    return true;
  }

  /** Stops the reply, whether it is sounding or only on its way. */
  stop() {
    if (this.replies.isUnderWay) this.#options.send({ type: 'response.cancel', event_id: UNASKED });
    this.#isUnwanted = this.#isExpecting;
    this.#isExpecting = false;
    void this.replies.cut();
  }

  /** The connection is gone, and with it whatever was on its way. */
  lose() {
    for (const entry of this.#spoken.values()) closeSpoken(entry);
    this.#spoken.clear();
    this.#isExpecting = false;
    this.#isReplyOwed = false;
    this.isHearing = false;
    void this.replies.abandon();
  }

  /** Tells a new session what the lost one knew. */
  retell() {
    for (const { role, text } of this.#options.transcript.history().slice(-RETOLD)) {
      const isUser = role === 'user';
      const content = [{ type: isUser ? 'input_text' : 'output_text', text }];
      const item = { type: 'message', role: isUser ? 'user' : 'assistant', content };
      this.#options.send({ type: 'conversation.item.create', event_id: UNASKED, item });
    }
  }

  #askForReply() {
    if (!this.#isReplyOwed || this.replies.isServerBusy) return;
    this.#isReplyOwed = false;
    this.#options.send({ type: 'response.create' });
  }

  /** @param {ServerEvent} event */
  #responseCreated(event) {
    this.replies.begin(event, this.#start);
    this.#start = undefined;
    this.#isExpecting = false;
    if (this.#isUnwanted) this.stop();
    this.#isUnwanted = false;
  }

  /** @param {ServerEvent} event */
  #handleSpeech(event) {
    switch (event.type) {
      case 'input_audio_buffer.speech_started':
        this.isHearing = true;
        this.#isUnwanted = false;
        this.#options.onHeard();
        // A reply of which nothing has sounded yet is the server's to cancel: the page has nothing to take back.
        if (this.replies.isPlaying) void this.replies.cut();
        this.#spokenEntry(event.item_id);
        break;
      case 'input_audio_buffer.speech_stopped':
        this.isHearing = false;
        this.#expect({ kind: 'speech', atMs: performance.now() });
        break;
      default:
    }
  }

  /** @param {ServerEvent} event */
  #handleWords(event) {
    switch (event.type) {
      case 'conversation.item.input_audio_transcription.delta': {
        const entry = this.#spokenEntry(event.item_id);
        entry.text = event.x_dramatis?.text ?? entry.text + (event.delta ?? '');
        break;
      }
      case 'conversation.item.input_audio_transcription.completed': {
        const entry = this.#understood(event.item_id);
        entry.text = event.transcript?.trim() ?? '';
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
        if (event.error?.event_id === UNASKED) break;
        if (event.error?.code === 'conversation_already_has_active_response' && this.#start?.kind === 'text') {
          // Asked a moment too early: a reply to something else began on its way here. Ask again when it is over.
          this.#isReplyOwed = true;
          break;
        }
        this.#isExpecting = false;
        this.#report(event.error);
        break;
      default:
    }
  }

  /** @param {ServerEvent['error']} error */
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

  /** @param {string} [itemId] */
  #spokenEntry(itemId = '') {
    const entry = this.#spoken.get(itemId) ?? this.#options.transcript.add('user', 'You');
    this.#spoken.set(itemId, entry);
    return entry;
  }

  /** @param {string} [itemId] */
  #understood(itemId = '') {
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
