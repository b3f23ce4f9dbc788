import { languageOf } from './characters.js';
import { Conversation } from './conversation.js';
import { explainMicrophone, whyNoMicrophone } from './explanations.js';
import { openAudio, openMicrophone } from './microphone.js';
import { toBase64 } from './pcm.js';
import { Connection, openSocket } from './realtime.js';
import { SilenceWatch } from './silence-watch.js';
import { Speaker } from './speaker.js';
import { talkState } from './talk-state.js';

/** @import { Character } from './characters.js' */
/** @import { Messages } from './messages.js' */
/** @import { Microphone } from './microphone.js' */
/** @import { MicrophoneChunk } from './microphone-worklet.js' */
/** @import { ConnectionStatus, ServerError } from './realtime.js' */
/** @import { TalkFacts, TalkState } from './talk-state.js' */
/** @import { Transcript } from './transcript.js' */

const CHUNK_MS = 40;
/** A muted microphone goes on sending silence this long, so that the server notices the end of what was said before. */
const MUTED_TAIL_MS = 2_000;

/**
 * @typedef {object} TalkOptions
 * @property {Character} character
 * @property {string} key
 * @property {Transcript} transcript
 * @property {Messages} messages
 * @property {() => string} microphoneId
 * @property {() => Promise<'away' | 'busy' | 'well'>} diagnose
 * @property {(state: TalkState) => void} onState
 * @property {(level: number) => void} onLevel of the microphone, root mean square
 * @property {(level: number) => void} onVoice of the character, root mean square
 * @property {() => void} onMicrophone a microphone was opened: the browser now tells names
 * @property {(error: ServerError | undefined) => void} onRefused
 */

/** One talk with one character, from the tap that begins it to its end. Construct it in the handler of a tap. */
export class Talk {
  #options;
  #audio = openAudio();
  #connection;
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
  /** @type {string | null} */
  #greeting = null;
  /** Resolves when the first session is open. @type {PromiseWithResolvers<void>} */
  #opened = Promise.withResolvers();

  /** @param {TalkOptions} options */
  constructor(options) {
    this.#options = options;
    this.#connection = new Connection({
      dial: () => openSocket(options.character.id, options.key),
      diagnose: options.diagnose,
      onEvent: (event) => this.#conversation.handle(event),
      onStatus: (status) => this.#connectionChanged(status),
    });
    this.#conversation = new Conversation({
      characterName: options.character.name,
      language: languageOf(options.character),
      send: (event) => this.#connection.send(event),
      transcript: options.transcript,
      messages: options.messages,
      onChange: () => this.#changed(),
      onHeard: () => this.#heard(),
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
      isPlaying: this.#conversation.replies.isPlaying,
      isAwaiting: this.#conversation.isAwaiting,
    });
  }

  get hasMicrophone() {
    return this.#microphone !== undefined;
  }

  /** The connection was lost and will be tried again. */
  get isRetrying() {
    return this.#status === 'lost';
  }

  get isMuted() {
    return this.#microphoneStatus !== 'open';
  }

  /**
   * Connects. By voice, the character is then asked to speak first.
   *
   * @param {'voice' | 'text'} by
   * @returns {Promise<boolean>} false if it ended first
   */
  async begin(by) {
    this.#connection.open();
    await Promise.all([this.#openSpeaker(), this.#opened.promise, by === 'voice' ? this.openMicrophone() : undefined]);
    if (this.#isOver()) return false;
    if (by === 'voice' && this.#greeting !== null) this.#conversation.greet();
    return true;
  }

  /** Asks for the microphone, or changes to another. */
  async openMicrophone() {
    const { messages } = this.#options;
    this.#closeMicrophone();
    messages.clear('silence');
    const obstacle = whyNoMicrophone();
    if (obstacle !== undefined) {
      messages.show('microphone', obstacle);
      return;
    }
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

  /** Stops the reply. */
  stop() {
    this.#conversation.stop();
  }

  /**
   * @param {string} text
   * @returns {boolean} false where it could not be sent
   */
  say(text) {
    return this.#conversation.say(text);
  }

  retryNow() {
    this.#connection.retryNow();
  }

  end() {
    if (this.#isOver()) return;
    this.#conversation.lose();
    this.#connection.close();
    this.#release();
  }

  #release() {
    this.#ended.abort();
    this.#opened.resolve();
    this.#closeMicrophone();
    this.#conversation.replies.speaker?.close();
    void this.#audio.close();
    this.#options.onLevel(0);
    this.#options.onVoice(0);
  }

  #isOver() {
    return this.#ended.signal.aborted;
  }

  #changed() {
    if (this.#isOver() && this.#status === 'open') return;
    if (!this.#conversation.replies.isPlaying) this.#options.onVoice(0);
    this.#options.onState(this.state);
  }

  /** @param {TalkFacts['microphone']} status */
  #setMicrophone(status) {
    this.#microphoneStatus = status;
    if (status !== 'open') this.#options.onLevel(0);
    this.#changed();
  }

  async #openSpeaker() {
    const { replies } = this.#conversation;
    try {
      replies.speaker = await Speaker.open(this.#audio, {
        onProgress: (itemId, playedMs, level) => {
          replies.played(itemId, playedMs);
          this.#options.onVoice(level);
        },
        onOnset: (itemId, atMs) => replies.sounded(itemId, atMs),
        onEnded: (itemId) => replies.ended(itemId),
      });
    } catch {
      const text = 'This page can only play voices on localhost or over https. You can type and read meanwhile.';
      this.#options.messages.show('speaker', text);
    }
  }

  /** @param {ConnectionStatus} change */
  #connectionChanged(change) {
    const { messages } = this.#options;
    const isReturn = this.#status === 'lost' && change.status === 'open';
    this.#status = change.status;
    if (change.status === 'open') {
      messages.clear('connection');
      this.#greeting = change.session.x_dramatis?.greeting ?? null;
      if (isReturn) this.#conversation.retell();
      this.#opened.resolve();
    } else if (change.status === 'lost') {
      this.#conversation.lose();
      const retry = { label: 'Try now', run: () => this.#connection.retryNow() };
      messages.show('connection', explainLoss(change), retry);
    } else if (change.status === 'refused') {
      this.#conversation.lose();
      this.#release();
      this.#options.onRefused(change.error);
    }
    this.#changed();
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
    if (this.#status !== 'open' || (isMuted && this.#mutedMs > MUTED_TAIL_MS)) return;
    this.#connection.send({ type: 'input_audio_buffer.append', audio: toBase64(pcm) });
    if (this.state === 'listening') this.#listenForSilence(peak);
    else this.#watch.rest();
  }

  /** @param {number} peak */
  #listenForSilence(peak) {
    const silence = this.#watch.chunk(CHUNK_MS, peak);
    if (silence === undefined) return;
    const text =
      silence === 'flat'
        ? 'I hear nothing at all: the microphone delivers pure silence. Is it switched on, and the right one chosen?'
        : 'I hear nothing: is the right microphone chosen?';
    this.#options.messages.show('silence', text);
  }

  #heard() {
    this.#watch.heard();
    this.#options.messages.clear('silence');
  }
}

/** @param {Extract<ConnectionStatus, { status: 'lost' }>} loss */
function explainLoss({ retryInMs, isBusy }) {
  const cause = isBusy ? 'The server is full.' : 'The connection was lost.';
  return retryInMs === 0 ? `${cause} Trying again…` : `${cause} Trying again in ${retryInMs / 1000} s.`;
}
