import { randomInt } from 'node:crypto';
import { opusFrameMs, type OpusEncoder } from '../../../voices/dsp/opus.ts';
import type { Clock } from '../../session/contract/clock.ts';
import { PlayoutQueue, type CutResponse, type PlayoutEvent } from './playout-queue.ts';
import { opusClockRate, type OutgoingPacket } from './rtp.ts';

/** Silence after the last sound, so that the client's decoder comes to rest before packets stop. */
const tailFrames = 10;
/** A server that was held up for longer than this does not hurry after: the listener has heard a pause. */
const mostBehindMs = 200;
const frameTicks = (opusFrameMs / 1000) * opusClockRate;

interface Speaker {
  readonly encoder: OpusEncoder;
  readonly clock: Clock;
  /** Sends one packet. */
  readonly send: (packet: OutgoingPacket) => void;
  /** Tells the client what becomes of the sound. */
  readonly tell: (event: PlayoutEvent) => void;
  /** Told of faults that are ours. */
  readonly onFault: (fault: unknown) => void;
}

/**
 * The character's voice: sound as it is made, to RTP packets of 20 ms in real time. Where there is nothing to say no packets
 * are sent, and no timer runs.
 */
export class OutgoingSpeech {
  readonly #speaker: Speaker;
  readonly #queue: PlayoutQueue;
  readonly #stop = new AbortController();
  readonly #silence: Float32Array;
  readonly #startedMs: number;
  readonly #firstTimestamp = randomInt(2 ** 32);
  #sequence = randomInt(2 ** 16);
  /** The next frame's place, counted in frames from the beginning of the call. */
  #tick = 0;
  #isRunning = false;

  constructor(speaker: Speaker) {
    this.#speaker = speaker;
    this.#queue = new PlayoutQueue(speaker.encoder.frameSamples, speaker.tell);
    this.#silence = new Float32Array(speaker.encoder.frameSamples);
    this.#startedMs = speaker.clock.now();
  }

  /** Plays more of a response, at the encoder's rate. */
  push(responseId: string, samples: Float32Array): void {
    this.#queue.push(responseId, samples);
    void this.#run();
  }

  /** A response has all its sound. Returns whether some of it is still to be played. */
  complete(responseId: string): boolean {
    const plays = this.#queue.complete(responseId);
    void this.#run();
    return plays;
  }

  /** Stops responses, by default all of them, at once. Returns whose sound was still to come. */
  cut(which?: Parameters<PlayoutQueue['cut']>[0]): CutResponse[] {
    return this.#queue.cut(which);
  }

  /** Silence for a moment: drops what of a response has come. Returns how far it has been played, in samples. */
  hold(responseId: string): number | undefined {
    return this.#queue.hold(responseId);
  }

  /** Says no more, and tells nothing. */
  close(): void {
    this.#stop.abort(new Error('the call has ended'));
  }

  async #run(): Promise<void> {
    if (this.#isRunning || this.#stop.signal.aborted) return;
    this.#isRunning = true;
    const { clock } = this.#speaker;
    try {
      for (let frame = this.#queue.next(); frame !== undefined; frame = this.#queue.next()) {
        await this.#talk(frame, clock);
      }
    } catch (reason) {
      if (!this.#stop.signal.aborted) this.#speaker.onFault(reason);
    } finally {
      this.#isRunning = false;
    }
  }

  /** Sends frames until there have been none for a while. RTP time went on while nothing was sent. */
  async #talk(first: Float32Array, clock: Clock): Promise<void> {
    let frame: Float32Array | undefined = first;
    let dueMs = clock.now();
    this.#catchUp(dueMs);
    let isFirst = true;
    for (let quiet = 0; quiet <= tailFrames; quiet = frame === undefined ? quiet + 1 : 0) {
      this.#send(frame ?? this.#silence, isFirst);
      isFirst = false;
      dueMs += opusFrameMs;
      const waitMs = dueMs - clock.now();
      if (waitMs > 0) await clock.sleep(waitMs, this.#stop.signal);
      else if (waitMs < -mostBehindMs) {
        dueMs = clock.now();
        this.#catchUp(dueMs);
      }
      this.#stop.signal.throwIfAborted();
      frame = this.#queue.next();
    }
  }

  #catchUp(nowMs: number): void {
    this.#tick = Math.max(this.#tick, Math.round((nowMs - this.#startedMs) / opusFrameMs));
  }

  #send(frame: Float32Array, marker: boolean): void {
    const { encoder, send } = this.#speaker;
    const timestamp = (this.#firstTimestamp + this.#tick * frameTicks) % 2 ** 32;
    this.#tick += 1;
    this.#sequence = (this.#sequence + 1) & 0xff_ff;
    send({ sequence: this.#sequence, timestamp, marker, payload: encoder.encode(frame) });
  }
}
