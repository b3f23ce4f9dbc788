import { openMicrophone } from '../../client/audio/microphone.js';
import { explainMicrophone, explainSilence, whyNoMicrophone } from './explanations.js';

/** @import { Microphone } from '../../client/audio/microphone.js' */
/** @import { MicrophoneChunk } from '../../client/audio/microphone-worklet.js' */
/** @import { Messages } from './messages.js' */
/** @import { TalkFacts } from './talk-state.js' */

const UNHEARD_MS = 15_000;
/** Limit once the user has been heard: they may just be thinking. */
const PAUSE_MS = 60_000;
const FLAT_MS = 5_000;
const CHUNK_MS = 40;
/**
 * Duration that a muted microphone keeps sending silence, so that the server detects the end of the speech before it.
 */
const MUTED_TAIL_MS = 2_000;

/** Microphone of a conversation: its state, what it sends, and notices if it delivers nothing. */
export class TalkMicrophone {
  #options;
  #watch = new SilenceWatch();
  /** @type {Microphone | undefined} */
  #microphone;
  #mutedMs = 0;
  /** @type {TalkFacts['microphone']} */
  status = 'closed';

  /**
   * @param {object} options
   * @param {AudioContext} options.context
   * @param {() => string} options.deviceId
   * @param {Messages} options.messages
   * @param {() => boolean} options.isOver true once the conversation has ended
   * @param {() => boolean} options.isListening true while the user is expected to speak
   * @param {(pcm: ArrayBuffer) => void} options.onAudio
   * @param {(level: number) => void} options.onLevel
   * @param {() => void} options.onChange `status` has changed
   * @param {() => void} options.onOpen the browser now reveals device labels
   */
  constructor(options) {
    this.#options = options;
  }

  get isThere() {
    return this.#microphone !== undefined;
  }

  /**
   * Opens the microphone, or switches to a different one.
   *
   * @param {boolean} isMuted
   */
  async open(isMuted) {
    const { messages } = this.#options;
    this.close();
    messages.clear('silence');
    const obstacle = whyNoMicrophone();
    if (obstacle !== undefined) return messages.show('microphone', obstacle);
    this.#set('opening');
    try {
      const microphone = await openMicrophone({
        context: this.#options.context,
        deviceId: this.#options.deviceId(),
        onChunk: (chunk) => this.#take(chunk),
        onEnded: () => this.#unplugged(),
      });
      if (this.#options.isOver()) return microphone.close();
      this.#microphone = microphone;
      this.#watch = new SilenceWatch();
      messages.clear('microphone');
      microphone.mute(isMuted);
      this.#mutedMs = MUTED_TAIL_MS;
      this.#set(isMuted ? 'muted' : 'open');
      this.#options.onOpen();
    } catch (error) {
      messages.show('microphone', explainMicrophone(error));
      this.#set('closed');
    }
  }

  /** @param {boolean} isMuted */
  mute(isMuted) {
    this.#microphone?.mute(isMuted);
    this.#mutedMs = 0;
    this.#watch.rest();
    this.#options.messages.clear('silence');
    this.#set(isMuted ? 'muted' : 'open');
  }

  close() {
    this.#microphone?.close();
    this.#microphone = undefined;
    this.#set('closed');
  }

  /** Notes that the server has detected speech. */
  heard() {
    this.#watch.heard();
    this.#options.messages.clear('silence');
  }

  /** @param {TalkFacts['microphone']} status */
  #set(status) {
    this.status = status;
    if (status !== 'open') this.#options.onLevel(0);
    this.#options.onChange();
  }

  #unplugged() {
    this.close();
    this.#options.messages.show('microphone', 'The microphone was unplugged. Tap the button to use another.');
  }

  /** @param {MicrophoneChunk} chunk */
  #take({ pcm, level, peak }) {
    const isMuted = this.status === 'muted';
    if (isMuted) this.#mutedMs += CHUNK_MS;
    else this.#options.onLevel(level);
    if (isMuted && this.#mutedMs > MUTED_TAIL_MS) return;
    this.#options.onAudio(pcm);
    if (this.#options.isListening()) this.#listenForSilence(peak);
    else this.#watch.rest();
  }

  /** @param {number} peak */
  #listenForSilence(peak) {
    const silence = this.#watch.chunk(CHUNK_MS, peak);
    if (silence === undefined) return;
    this.#options.messages.show('silence', explainSilence(silence));
  }
}

/** Detects that an open microphone delivers no speech. Measures audio time. */
class SilenceWatch {
  #quietMs = 0;
  #flatMs = 0;
  #hasHeard = false;

  /**
   * @param {number} durationMs of a chunk while the page was listening
   * @param {number} peak 0 to 1
   * @returns {'flat' | 'unheard' | undefined} `flat`: the device delivers digital silence; returned
   *   once per silence
   */
  chunk(durationMs, peak) {
    const quietMs = this.#quietMs;
    const flatMs = this.#flatMs;
    this.#quietMs += durationMs;
    this.#flatMs = peak === 0 ? flatMs + durationMs : 0;
    if (!this.#hasHeard && flatMs < FLAT_MS && this.#flatMs >= FLAT_MS) return 'flat';
    const limitMs = this.#hasHeard ? PAUSE_MS : UNHEARD_MS;
    return quietMs < limitMs && this.#quietMs >= limitMs ? 'unheard' : undefined;
  }

  /** Notes that speech was heard. */
  heard() {
    this.#hasHeard = true;
    this.rest();
  }

  /** Restarts the measurement: the user is not expected to speak now. */
  rest() {
    this.#quietMs = 0;
    this.#flatMs = 0;
  }
}
