import { randomInt } from 'node:crypto';
import { opusFrameMs, type OpusEncoder } from '../../../voices/dsp/opus.ts';
import type { Clock } from '../../session/contract/clock.ts';
import { PlayoutQueue, type CutResponse, type PlayoutEvent } from './playout-queue.ts';
import { opusClockRate, type OutgoingPacket } from './rtp.ts';

/** Frames of silence after the last audio, so that the client's decoder settles before packets stop. */
const tailFrames = 10;
/** Longest delay that is caught up by sending faster. After a longer one, the listener has heard a pause. */
const mostBehindMs = 200;
const frameTicks = (opusFrameMs / 1000) * opusClockRate;

/** Interval of reports of the playback position, if there are any. */
const reportMs = 500;

interface Speaker {
  /** Samples of a packet, at the encoders' rate. */
  readonly frameSamples: number;
  readonly clock: Clock;
  readonly tell: (event: PlayoutEvent, playedSamples: number) => void;
  readonly onFault: (fault: unknown) => void;
  /** If given, is called twice a second with the part of a response that has been played. */
  readonly onPlayed?: ((played: CutResponse) => void) | undefined;
  /** Longest sound that is played again if a call breaks, in milliseconds. */
  readonly rewindMs: number;
}

/** Destination of the packets: one call after another. */
export interface SpeechLine {
  readonly encoder: OpusEncoder;
  readonly send: (packet: OutgoingPacket) => void;
}

/** Sends the character's voice as RTP packets of 20 ms in real time; without audio or without a line no timer runs. */
export class OutgoingSpeech {
  readonly #speaker: Speaker;
  readonly #queue: PlayoutQueue;
  readonly #stop = new AbortController();
  readonly #silence: Float32Array;
  readonly #startedMs: number;
  readonly #firstTimestamp = randomInt(2 ** 32);
  #sequence = randomInt(2 ** 16);
  /** Position of the next frame, in frames from the start of the call. */
  #tick = 0;
  #isRunning = false;
  #done: Promise<void> | undefined;
  #line: SpeechLine | undefined;
  #reportedMs: number;

  constructor(speaker: Speaker) {
    const { frameSamples, tell, rewindMs, clock } = speaker;
    this.#speaker = speaker;
    this.#queue = new PlayoutQueue(frameSamples, tell, rewindMs);
    this.#silence = new Float32Array(frameSamples);
    this.#startedMs = clock.now();
    this.#reportedMs = this.#startedMs;
  }

  /** True while audio is being played. */
  get isPlaying(): boolean {
    return this.#isRunning;
  }

  /** Settles when no audio is being played. */
  async idle(): Promise<void> {
    if (this.#isRunning) await this.#done;
  }

  /** The responses that are being played or wait, with the positions at which their present audio will have been played. */
  waiting(): CutResponse[] {
    return this.#queue.waiting();
  }

  /** Plays over a line from now on. */
  attach(line: SpeechLine): void {
    this.#line = line;
    this.#run();
  }

  /**
   * The line is gone, and nobody has heard anything since `heardUntilMs` on the clock: it is played again over the next
   * one. Returns the playback positions that this changes.
   */
  detach(heardUntilMs: number): CutResponse[] {
    if (this.#line === undefined) return [];
    this.#line = undefined;
    return this.#queue.rewind(heardUntilMs);
  }

  /** Queues more audio of a response, at the encoder's sample rate. */
  push(responseId: string, samples: Float32Array): void {
    this.#queue.push(responseId, samples);
    this.#run();
  }

  /** Marks the audio of a response as complete. Returns whether some of it is still to be played. */
  complete(responseId: string): boolean {
    const plays = this.#queue.complete(responseId);
    this.#run();
    return plays;
  }

  /** Stops responses at once, by default all of them. Returns those that had audio left. */
  cut(which?: Parameters<PlayoutQueue['cut']>[0]): CutResponse[] {
    return this.#queue.cut(which);
  }

  /** Pauses a response: drops its queued audio. Returns its playback position in samples. */
  hold(responseId: string): number | undefined {
    return this.#queue.hold(responseId);
  }

  /** Stops sending, without further events. */
  close(): void {
    this.#stop.abort(new Error('the call has ended'));
  }

  #run(): void {
    if (this.#isRunning || this.#stop.signal.aborted) return;
    this.#isRunning = true;
    this.#done = this.#play();
  }

  async #play(): Promise<void> {
    const { clock } = this.#speaker;
    try {
      for (let frame = this.#next(); frame !== undefined; frame = this.#next()) {
        await this.#talk(frame, clock);
      }
    } catch (reason) {
      if (!this.#stop.signal.aborted) this.#speaker.onFault(reason);
    } finally {
      this.#isRunning = false;
    }
  }

  /** Sends frames until the queue has been empty for a while. RTP time continues while nothing is sent. */
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
      frame = this.#next();
    }
  }

  #next(): Float32Array | undefined {
    if (this.#line === undefined) return undefined;
    const { clock, onPlayed } = this.#speaker;
    const nowMs = clock.now();
    const frame = this.#queue.next(nowMs);
    const { playing } = this.#queue;
    if (onPlayed !== undefined && playing !== undefined && nowMs - this.#reportedMs >= reportMs) {
      this.#reportedMs = nowMs;
      onPlayed(playing);
    }
    return frame;
  }

  #catchUp(nowMs: number): void {
    this.#tick = Math.max(this.#tick, Math.round((nowMs - this.#startedMs) / opusFrameMs));
  }

  #send(frame: Float32Array, marker: boolean): void {
    if (this.#line === undefined) return;
    const { encoder, send } = this.#line;
    const timestamp = (this.#firstTimestamp + this.#tick * frameTicks) % 2 ** 32;
    this.#tick += 1;
    this.#sequence = (this.#sequence + 1) & 0xff_ff;
    send({ sequence: this.#sequence, timestamp, marker, payload: encoder.encode(frame) });
  }
}
