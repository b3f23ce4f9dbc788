import { hasTypePrefix } from '../../client/has-type-prefix.js';
import { openAudio } from '../../client/audio/microphone.js';
import { Speaker } from '../../client/audio/speaker.js';
import { openTalk } from '../../client/open-talk.js';
import { languageOf } from '../parts/characters.js';
import { moveLips } from '../face/mouth.js';
import { Conversation } from './conversation.js';
import { explainLoss, explainLostAudio, explainWarning, NO_SPEAKER } from './explanations.js';
import { TalkMicrophone } from './talk-microphone.js';
import { talkState } from './talk-state.js';

/** @import { ConnectionEvent, SpeakerListener, TalkEvent } from '../../client/types/api.d.ts' */
/** @import { TalkOptions } from './talk-options.d.ts' */
/** @import { TalkFacts, TalkState } from './talk-state.js' */

/** Minimum lost audio to report: less is not even a word. */
const REPORTED_LOSS_MS = 300;
/** Push-to-talk: the last word continues for a moment when the key is let go. */
const RELEASE_TAIL_MS = 150;
/** Push-to-talk: a shorter press is a slip. */
const SHORTEST_PRESS_MS = 250;

/** A conversation with one character, from the user's tap to its end. Construct it in the handler of a user gesture. */
export class TalkController {
  #options;
  #audio = openAudio();
  #wire;
  #conversation;
  #ended = new AbortController();
  #microphone;
  /** Volume of the character. */
  #gain = this.#audio.createGain();
  /** Time at which the user began to hold the key. @type {number | undefined} */
  #pressedAtMs;
  /** @type {TalkFacts['connection']} */
  #status = 'connecting';
  /** True if the conversation so far has to be sent to a new session. */
  #hadSession;

  /** @param {TalkOptions} options */
  constructor(options) {
    this.#options = options;
    this.#hadSession = options.isContinued === true;
    this.#wire = openTalk({
      url: new URL(options.user === '' ? '/' : `/?user=${encodeURIComponent(options.user)}`, location.href),
      character: options.character.id,
      apiKey: options.key,
      audio: this.#audio,
      speaker: (listener) => this.#openSpeaker(listener),
      thoughts: options.thoughts,
      resumption: options.resumption,
      visemes: true,
      onEvent: (event) => this.#take(event),
    });
    this.#microphone = new TalkMicrophone({
      context: this.#audio,
      deviceId: options.microphoneId,
      messages: options.messages,
      isOver: () => this.#isOver(),
      isListening: () => this.state === 'listening',
      onAudio: (pcm) => {
        this.#wire.sendAudio(pcm);
        options.recording?.addUser(pcm);
      },
      onLevel: options.onLevel,
      onChange: () => this.#microphoneChanged(),
      onOpen: options.onMicrophone,
    });
    this.#conversation = new Conversation({
      characterName: options.character.name,
      language: languageOf(options.character),
      wire: this.#wire,
      transcript: options.transcript,
      messages: options.messages,
      onChange: () => this.#changed(),
      onHeard: () => this.#heard(),
      onScene: options.onScene,
    });
    const wake = () => void this.#audio.resume();
    document.addEventListener('visibilitychange', wake, { signal: this.#ended.signal });
    document.addEventListener('pointerdown', wake, { signal: this.#ended.signal });
  }

  /** @returns {TalkState} */
  get state() {
    return talkState({
      connection: this.#status,
      microphone: this.#microphone.status,
      isHearing: this.#conversation.isHearing,
      isPlaying: this.#wire.isPlaying,
      isAwaiting: this.#conversation.isAwaiting,
    });
  }

  get hasMicrophone() {
    return this.#microphone.isThere;
  }

  /** True if the connection was lost and will be retried. */
  get isRetrying() {
    return this.#status === 'lost';
  }

  get isMuted() {
    return this.#microphone.status !== 'open';
  }

  /**
   * Connects. Unless the conversation starts by text, the character is then asked to speak first.
   *
   * @param {'voice' | 'text' | 'listen'} by
   * @returns {Promise<boolean>} false if the conversation ended first
   */
  async begin(by) {
    const opened = this.#wire.opened.catch(() => undefined);
    const [session] = await Promise.all([opened, by === 'voice' ? this.openMicrophone() : undefined]);
    if (this.#isOver() || session === undefined) return false;
    const greeting = session.x_dramatis?.greeting ?? null;
    if (by !== 'text' && greeting !== null && this.#options.isContinued !== true) this.#conversation.greet();
    return true;
  }

  /** Opens the microphone, or switches to a different one. */
  openMicrophone() {
    return this.#microphone.open(this.isPushToTalk);
  }

  /** @param {boolean} muted */
  mute(muted) {
    this.#microphone.mute(muted);
  }

  /** True if the user speaks while holding a key or the button. */
  get isPushToTalk() {
    return this.#options.settings?.isPushToTalk === true;
  }

  /** Adopts settings that the user has changed. */
  adopt() {
    this.#gain.gain.value = this.#options.settings?.volume ?? 1;
    if (this.hasMicrophone) this.mute(this.isPushToTalk);
  }

  /** Push-to-talk: the user begins to speak. A reply in progress stops. */
  press() {
    if (this.#status !== 'open' || !this.hasMicrophone || this.#pressedAtMs !== undefined) return;
    this.#pressedAtMs = performance.now();
    this.#conversation.press();
    this.mute(false);
  }

  /** Push-to-talk: the user has finished. */
  release() {
    const pressedAtMs = this.#pressedAtMs;
    if (pressedAtMs === undefined) return;
    this.#pressedAtMs = undefined;
    const isSlip = performance.now() - pressedAtMs < SHORTEST_PRESS_MS;
    setTimeout(() => {
      // Pressed again: the turn continues.
      if (this.#isOver() || this.#pressedAtMs !== undefined) return;
      this.#conversation.release(!isSlip);
      this.mute(true);
    }, RELEASE_TAIL_MS);
  }

  /** Lets the scene continue with the next speaker. */
  goOn() {
    this.#conversation.continueScene();
  }

  /** Stops the reply. */
  stop() {
    this.#conversation.stop();
  }

  /**
   * @param {string} text
   * @returns {boolean} false if it could not be sent
   */
  say(text) {
    return this.#status === 'open' && this.#conversation.say(text);
  }

  /** Changes of what was said last; undefined without a connection. */
  get revisions() {
    return this.#status === 'open' ? this.#conversation : undefined;
  }

  /** What the page needs to continue this conversation after a reload. */
  get resumption() {
    return this.#isOver() ? undefined : this.#wire.resumption;
  }

  retryNow() {
    this.#wire.reconnect();
  }

  end() {
    if (this.#isOver()) return;
    this.#conversation.lose();
    this.#wire.close();
    this.#release();
  }

  /** @param {SpeakerListener} listener */
  async #openSpeaker(listener) {
    const bus = this.#audio.createGain();
    this.#gain.gain.value = this.#options.settings?.volume ?? 1;
    bus.connect(this.#gain).connect(this.#audio.destination);
    const speaker = await Speaker.open(this.#audio, listener, bus);
    await this.#options.recording?.follow(this.#audio, bus);
    return speaker;
  }

  #release() {
    this.#ended.abort();
    this.#microphone.close();
    void this.#audio.close();
    this.#options.onLevel(0);
    this.#options.onVoice(0);
  }

  #isOver() {
    return this.#ended.signal.aborted;
  }

  #changed() {
    if (this.#isOver() && this.#status === 'open') return;
    if (!this.#wire.isPlaying) this.#options.onVoice(0);
    this.#options.onState(this.state);
  }

  #microphoneChanged() {
    if (this.#status === 'open') this.#listen();
    this.#changed();
  }

  /** Tells the server how turns end, and whether the character may speak after a long silence. */
  #listen() {
    this.#conversation.listen({ isManual: this.isPushToTalk, maySpeakUp: this.#microphone.status === 'open' });
  }

  /** @param {TalkEvent} event */
  #take(event) {
    if (hasTypePrefix(event, 'connection.')) return this.#connectionChanged(event);
    if (event.type === 'playback.progress') this.#options.onVoice(event.level);
    if (event.type === 'playback.onset') moveLips(this.#wire.mouth);
    // The state stays `speaking`: the reply may continue in a moment.
    if (event.type === 'x_dramatis.hold') this.#options.onVoice(0);
    if (event.type === 'speaker.failed') this.#options.messages.show('speaker', NO_SPEAKER);
    // It comes once in a session, so it stays until the user has read it.
    if (event.type === 'x_dramatis.warning') this.#options.messages.show(event.code, explainWarning(event));
    this.#conversation.handle(event);
  }

  /** @param {ConnectionEvent} event */
  #connectionChanged(event) {
    switch (event.type) {
      case 'connection.open':
        this.#opened(event);
        break;
      case 'connection.lost': {
        // The client reconnects at once; only a longer outage is reported.
        if (this.#status === 'open' && event.retryInMs === 0 && event.attempt <= 1) return;
        this.#status = 'lost';
        const retry = { label: 'Retry now', run: () => this.#wire.reconnect() };
        this.#options.messages.show('connection', explainLoss(event), retry);
        break;
      }
      case 'connection.refused':
      case 'connection.replaced':
        this.#status = 'refused';
        this.#conversation.lose();
        this.#release();
        if (event.type === 'connection.refused') this.#options.onRefused(event.error);
        else this.#options.messages.show('connection', 'This conversation was continued in another window.');
        break;
      default:
        this.#status = event.type === 'connection.closed' ? 'closed' : 'connecting';
    }
    this.#changed();
  }

  /** @param {Extract<ConnectionEvent, { type: 'connection.open' }>} event */
  #opened({ isNew, isRestarted, lostMs }) {
    const { messages } = this.#options;
    this.#status = 'open';
    messages.clear('connection');
    if (isNew && this.#hadSession) this.#conversation.retell();
    else if (isRestarted) this.#conversation.loseSpeech();
    if (isNew && (this.isPushToTalk || this.#microphone.status === 'open')) this.#listen();
    if (lostMs >= REPORTED_LOSS_MS) messages.show('lost', explainLostAudio(lostMs));
    this.#hadSession = true;
  }

  #heard() {
    this.#microphone.heard();
    this.#options.messages.clear('lost');
  }
}
