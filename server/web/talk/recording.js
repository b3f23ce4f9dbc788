import { WIRE_RATE } from '../../client/audio/pcm.js';

/** @import { MicrophoneChunk } from '../../client/audio/microphone-worklet.js' */

/** Samples of a chunk of the worklet: 40 ms. */
const CHUNK_SAMPLES = 960;
/** Pauses are cut to this length. */
const MOST_SILENT_CHUNKS = 50;
/** Below this peak (−54 dBFS) a sample counts as silence. */
const QUIET = 65;
/** An hour. */
const MOST_CHUNKS = 90_000;
/** Chunks that are joined to one `Blob`, which the browser may keep on disk. */
const CHUNKS_PER_BLOB = 250;
const HEADER_BYTES = 44;

/**
 * Both sides of the conversations since the last `clear`, as 16-bit stereo: the user on the left, the character on the
 * right. It stays in the browser; the first hour is kept.
 */
export class Recording {
  /** @type {Blob[]} */
  #blobs = [];
  /** @type {Int16Array<ArrayBuffer>[]} */
  #latest = [];
  /** @type {Int16Array[]} the user's chunks that the character's have not caught up with */
  #user = [];
  #chunks = 0;
  #silentChunks = 0;

  get isEmpty() {
    return this.#chunks === 0;
  }

  clear() {
    this.#blobs = [];
    this.#latest = [];
    this.#user = [];
    this.#chunks = 0;
  }

  /**
   * Adds 40 ms of the user.
   *
   * @param {ArrayBuffer} pcm
   */
  addUser(pcm) {
    this.#user.push(new Int16Array(pcm));
    // The microphone's clock may run ahead.
    if (this.#user.length > 3) this.#user.shift();
  }

  /**
   * Records what a node plays, silence included. Each of its chunks is a step of both sides.
   *
   * @param {AudioContext} context
   * @param {AudioNode} source
   */
  async follow(context, source) {
    await context.audioWorklet.addModule(new URL('../../client/audio/microphone-worklet.js', import.meta.url));
    if (context.state === 'closed') return;
    const node = new AudioWorkletNode(context, 'dramatis-microphone', {
      channelCount: 1,
      channelCountMode: 'explicit',
    });
    node.port.onmessage = ({ data }) => this.#add(new Int16Array(/** @type {MicrophoneChunk} */ (data).pcm));
    source.connect(node).connect(context.destination);
  }

  /** @param {Int16Array} character */
  #add(character) {
    const user = this.#user.shift();
    const isSilent = [user, character].every(
      (side) => side === undefined || side.every((each) => Math.abs(each) < QUIET),
    );
    this.#silentChunks = isSilent ? this.#silentChunks + 1 : 0;
    const isBeforeAll = this.#chunks === 0 && isSilent;
    if (isBeforeAll || this.#silentChunks > MOST_SILENT_CHUNKS || this.#chunks >= MOST_CHUNKS) return;
    const both = new Int16Array(2 * CHUNK_SAMPLES);
    for (let at = 0; at < CHUNK_SAMPLES; at += 1) {
      both[2 * at] = user?.[at] ?? 0;
      both[2 * at + 1] = character[at] ?? 0;
    }
    this.#latest.push(both);
    this.#chunks += 1;
    if (this.#latest.length < CHUNKS_PER_BLOB) return;
    this.#blobs.push(new Blob(this.#latest));
    this.#latest = [];
  }

  /** @returns {Blob} a WAV file */
  asWav() {
    const bytes = this.#chunks * CHUNK_SAMPLES * 4;
    const header = new DataView(new ArrayBuffer(HEADER_BYTES));
    const text = (/** @type {number} */ at, /** @type {string} */ letters) =>
      new TextEncoder().encode(letters).forEach((letter, index) => header.setUint8(at + index, letter));
    text(0, 'RIFF');
    header.setUint32(4, HEADER_BYTES - 8 + bytes, true);
    text(8, 'WAVEfmt ');
    header.setUint32(16, 16, true);
    header.setUint16(20, 1, true);
    header.setUint16(22, 2, true);
    header.setUint32(24, WIRE_RATE, true);
    header.setUint32(28, WIRE_RATE * 4, true);
    header.setUint16(32, 4, true);
    header.setUint16(34, 16, true);
    text(36, 'data');
    header.setUint32(40, bytes, true);
    return new Blob([header, ...this.#blobs, ...this.#latest], { type: 'audio/wav' });
  }
}
