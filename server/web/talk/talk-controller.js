import { hasTypePrefix } from '../../client/has-type-prefix.js';
import { openAudio, openMicrophone } from '../../client/audio/microphone.js';
import { openTalk } from '../../client/open-talk.js';
import { languageOf } from '../parts/characters.js';
import { Conversation } from './conversation.js';
import {
  explainLoss,
  explainLostAudio,
  explainMicrophone,
  explainSilence,
  NO_SPEAKER,
  whyNoMicrophone,
} from './explanations.js';
import { SilenceWatch } from './silence-watch.js';
import { talkState } from './talk-state.js';

/** @import { ConnectionEvent, TalkEvent } from '../../client/types/api.d.ts' */
/** @import { Microphone } from '../../client/audio/microphone.js' */
/** @import { MicrophoneChunk } from '../../client/audio/microphone-worklet.js' */
/** @import { TalkOptions } from './talk-options.d.ts' */
/** @import { TalkFacts, TalkState } from './talk-state.js' */

const CHUNK_MS = 40;
/**
 * Duration that a muted microphone keeps sending silence, so that the server detects the end of the speech before it.
 */
const MUTED_TAIL_MS = 2_000;
/** Minimum lost audio to report: less is not even a word. */
const REPORTED_LOSS_MS = 300;

/** A conversation with one character, from the user's tap to its end. Construct it in the handler of a user gesture. */
export class TalkController {
  #options;
  #audio = openAudio();
  #wire;
  #conversation;
  #watch = new SilenceWatch();
  #ended = new AbortController();
  /** @type {Microphone | undefined} */
  #microphone;
  #mutedMs = 0;
  /** @type {TalkFacts['connection']} */
  #status = 'connecting';
  /** @type {TalkFacts['microphone']} */
  #microphoneStatus = 'closed';
  #hadSession = false;

  /** @param {TalkOptions} options */
  constructor(options) {
    this.#options = options;
    this.#wire = openTalk({
      url: new URL(options.user === '' ? '/' : `/?user=${encodeURIComponent(options.user)}`, location.href),
      character: options.character.id,
      apiKey: options.key,
      audio: this.#audio,
      speaker: true,
      thoughts: options.thoughts,
      onEvent: (event) => this.#take(event),
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
      microphone: this.#microphoneStatus,
      isHearing: this.#conversation.isHearing,
      isPlaying: this.#wire.isPlaying,
      isAwaiting: this.#conversation.isAwaiting,
    });
  }

  get hasMicrophone() {
    return this.#microphone !== undefined;
  }

  /** True if the connection was lost and will be retried. */
  get isRetrying() {
    return this.#status === 'lost';
  }

  get isMuted() {
    return this.#microphoneStatus !== 'open';
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
    if (by !== 'text' && greeting !== null) this.#conversation.greet();
    return true;
  }

  /** Opens the microphone, or switches to a different one. */
  async openMicrophone() {
    const { messages } = this.#options;
    this.#closeMicrophone();
    messages.clear('silence');
    const obstacle = whyNoMicrophone();
    if (obstacle !== undefined) return messages.show('microphone', obstacle);
    this.#setMicrophone('opening');
    try {
      const microphone = await openMicrophone({
        context: this.#audio,
        deviceId: this.#options.microphoneId(),
        onChunk: (chunk) => this.#send(chunk),
        onEnded: () => this.#unplugged(),
      });
      if (this.#isOver()) {
        microphone.close();
        return;
      }
      this.#microphone = microphone;
      this.#watch = new SilenceWatch();
      messages.clear('microphone');
      this.#setMicrophone('open');
      this.#options.onMicrophone();
    } catch (error) {
      messages.show('microphone', explainMicrophone(error));
      this.#setMicrophone('closed');
    }
  }

  /** @param {boolean} muted */
  mute(muted) {
    this.#microphone?.mute(muted);
    this.#mutedMs = 0;
    this.#watch.rest();
    this.#options.messages.clear('silence');
    this.#setMicrophone(muted ? 'muted' : 'open');
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

  retryNow() {
    this.#wire.reconnect();
  }

  end() {
    if (this.#isOver()) return;
    this.#conversation.lose();
    this.#wire.close();
    this.#release();
  }

  #release() {
    this.#ended.abort();
    this.#closeMicrophone();
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

  /** @param {TalkFacts['microphone']} status */
  #setMicrophone(status) {
    this.#microphoneStatus = status;
    if (status !== 'open') this.#options.onLevel(0);
    if (this.#status === 'open') this.#conversation.speakUp(status === 'open');
    this.#changed();
  }

  /** @param {TalkEvent} event */
  #take(event) {
    if (hasTypePrefix(event, 'connection.')) return this.#connectionChanged(event);
    if (event.type === 'playback.progress') this.#options.onVoice(event.level);
    // The state stays `speaking`: the reply may continue in a moment.
    if (event.type === 'x_dramatis.hold') this.#options.onVoice(0);
    if (event.type === 'speaker.failed') this.#options.messages.show('speaker', NO_SPEAKER);
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
    if (isNew && this.#microphoneStatus === 'open') this.#conversation.speakUp(true);
    if (isNew && this.#hadSession) {
      this.#conversation.lose();
      this.#conversation.sendHistory();
    } else if (isRestarted) this.#conversation.loseSpeech();
    if (lostMs >= REPORTED_LOSS_MS) messages.show('lost', explainLostAudio(lostMs));
    this.#hadSession = true;
  }

  #unplugged() {
    this.#closeMicrophone();
    this.#options.messages.show('microphone', 'The microphone was unplugged. Tap the button to use another.');
  }

  #closeMicrophone() {
    this.#microphone?.close();
    this.#microphone = undefined;
    this.#setMicrophone('closed');
  }

  /** @param {MicrophoneChunk} chunk */
  #send({ pcm, level, peak }) {
    const isMuted = this.#microphoneStatus === 'muted';
    if (isMuted) this.#mutedMs += CHUNK_MS;
    else this.#options.onLevel(level);
    if (isMuted && this.#mutedMs > MUTED_TAIL_MS) return;
    this.#wire.sendAudio(pcm);
    if (this.state === 'listening') this.#listenForSilence(peak);
    else this.#watch.rest();
  }

  /** @param {number} peak */
  #listenForSilence(peak) {
    const silence = this.#watch.chunk(CHUNK_MS, peak);
    if (silence === undefined) return;
    this.#options.messages.show('silence', explainSilence(silence));
  }

  #heard() {
    this.#watch.heard();
    this.#options.messages.clear('silence');
    this.#options.messages.clear('lost');
  }
}
