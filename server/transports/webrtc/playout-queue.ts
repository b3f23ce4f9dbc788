/** Queued audio of one response. Responses play one after another. */
interface Segment {
  readonly responseId: string;
  readonly blocks: Float32Array[];
  /** Samples taken from the first block. */
  taken: number;
  /** Position of its next sample, counting all samples received. */
  position: number;
  /** Playback position: one past the last sample played. */
  played: number;
  started: boolean;
  /** No more audio will come. */
  complete: boolean;
}

/** A response whose audio was dropped, with its playback position in samples, counting all that were received. */
export interface CutResponse {
  readonly responseId: string;
  readonly playedSamples: number;
}

/** Playout event for the client, as defined by OpenAI Realtime (GA) for WebRTC. */
export interface PlayoutEvent {
  readonly type: 'output_audio_buffer.started' | 'output_audio_buffer.stopped' | 'output_audio_buffer.cleared';
  readonly response_id: string;
}

/** Audio of a response that was played lately. */
interface Played {
  readonly segment: Segment;
  readonly block: Float32Array;
  readonly atMs: number;
}

/** Queue of audio to be played, in frames of equal length. Has no clock; reports when a response starts and stops. */
export class PlayoutQueue {
  readonly #frameSamples: number;
  readonly #tell: (event: PlayoutEvent, playedSamples: number) => void;
  readonly #rewindMs: number;
  #segments: Segment[] = [];
  /** Oldest first. */
  #lately: Played[] = [];
  /** Responses that were cut, and whose last audio may still arrive. */
  readonly #cut = new Set<string>();

  /** `rewindMs`: how far `rewind` can go back. */
  constructor(frameSamples: number, tell: (event: PlayoutEvent, playedSamples: number) => void, rewindMs = 0) {
    this.#frameSamples = frameSamples;
    this.#tell = tell;
    this.#rewindMs = rewindMs;
  }

  /** The response that is being played, with its playback position. */
  get playing(): CutResponse | undefined {
    const [segment] = this.#segments;
    return segment?.started === true ? { responseId: segment.responseId, playedSamples: segment.played } : undefined;
  }

  /** The responses that are not played to their ends, with the positions at which their present audio will have been played. */
  waiting(): CutResponse[] {
    return this.#segments.map((segment) => ({
      responseId: segment.responseId,
      playedSamples: segment.position + waitingIn(segment),
    }));
  }

  push(responseId: string, samples: Float32Array): void {
    if (samples.length === 0 || this.#cut.has(responseId)) return;
    let segment = this.#segments.find((candidate) => candidate.responseId === responseId);
    if (segment === undefined) {
      segment = { responseId, blocks: [], taken: 0, position: 0, played: 0, started: false, complete: false };
      this.#segments.push(segment);
    }
    segment.blocks.push(samples);
  }

  /** Marks the audio of a response as complete; the rest is played. Returns whether there is any. */
  complete(responseId: string): boolean {
    this.#cut.delete(responseId);
    const segment = this.#segments.find((candidate) => candidate.responseId === responseId);
    if (segment === undefined) return false;
    segment.complete = true;
    this.#retire();
    return this.#segments.includes(segment);
  }

  /** Drops the audio of some responses (default: all), present and future. Returns those that had audio left. */
  cut(
    which: (segment: { readonly responseId: string; readonly complete: boolean }) => boolean = () => true,
  ): CutResponse[] {
    const dropped = this.#segments.filter((segment) => which(segment));
    this.#segments = this.#segments.filter((segment) => !dropped.includes(segment));
    for (const segment of dropped) {
      this.#forget(segment);
      if (!segment.complete) this.#cut.add(segment.responseId);
      const event = { type: 'output_audio_buffer.cleared', response_id: segment.responseId } as const;
      if (segment.started) this.#tell(event, segment.played);
    }
    return dropped.map(({ responseId, played }) => ({ responseId, playedSamples: played }));
  }

  /** Drops the queued audio of a response; later audio is played. Returns the position in samples, if it is known. */
  hold(responseId: string): number | undefined {
    const segment = this.#segments.find((candidate) => candidate.responseId === responseId);
    if (segment === undefined) return undefined;
    this.#forget(segment);
    segment.position += waitingIn(segment);
    segment.blocks.length = 0;
    segment.taken = 0;
    return segment.played;
  }

  /**
   * Plays again the audio that was played at `sinceMs` or later, because nobody has heard it. Returns the new playback positions of the
   * responses that it belongs to.
   */
  rewind(sinceMs: number): CutResponse[] {
    const unheard = this.#lately.filter(({ atMs }) => atMs >= sinceMs).toReversed();
    this.#lately = [];
    for (const { segment, block } of unheard) {
      if (!this.#segments.includes(segment)) {
        segment.started = false;
        this.#segments.unshift(segment);
      }
      const [next] = segment.blocks;
      if (next !== undefined && segment.taken > 0) segment.blocks[0] = next.subarray(segment.taken);
      segment.taken = 0;
      segment.blocks.unshift(block);
      segment.position -= block.length;
      segment.played = segment.position;
    }
    const changed = new Set(unheard.map(({ segment }) => segment));
    return [...changed].map(({ responseId, played }) => ({ responseId, playedSamples: played }));
  }

  /**
   * Returns the next frame, if there is a complete one. The last frame of a response is padded with silence. `nowMs`:
   * when it is played.
   */
  next(nowMs = 0): Float32Array | undefined {
    const [segment] = this.#segments;
    if (segment === undefined) return undefined;
    if (waitingIn(segment) < this.#frameSamples && !segment.complete) return undefined;
    if (!segment.started) {
      segment.started = true;
      this.#tell({ type: 'output_audio_buffer.started', response_id: segment.responseId }, segment.played);
    }
    const frame = this.#take(segment, nowMs);
    this.#retire();
    return frame;
  }

  #take(segment: Segment, nowMs: number): Float32Array {
    const frame = new Float32Array(this.#frameSamples);
    let filled = 0;
    while (filled < frame.length) {
      const [block] = segment.blocks;
      if (block === undefined) break;
      const piece = block.subarray(segment.taken, segment.taken + frame.length - filled);
      frame.set(piece, filled);
      filled += piece.length;
      segment.taken += piece.length;
      segment.position += piece.length;
      segment.played = segment.position;
      if (segment.taken < block.length) break;
      segment.blocks.shift();
      segment.taken = 0;
    }
    if (this.#rewindMs > 0) this.#remember({ segment, block: frame.subarray(0, filled), atMs: nowMs });
    return frame;
  }

  #remember(played: Played): void {
    this.#lately.push(played);
    while ((this.#lately[0]?.atMs ?? played.atMs) < played.atMs - this.#rewindMs) this.#lately.shift();
  }

  #forget(segment: Segment): void {
    this.#lately = this.#lately.filter((played) => played.segment !== segment);
  }

  /** Removes responses that have been played to the end. */
  #retire(): void {
    for (;;) {
      const [segment] = this.#segments;
      if (segment === undefined || !segment.complete || segment.blocks.length > 0) return;
      this.#segments.shift();
      const event = { type: 'output_audio_buffer.stopped', response_id: segment.responseId } as const;
      if (segment.started) this.#tell(event, segment.played);
    }
  }
}

function waitingIn({ blocks, taken }: Segment): number {
  return blocks.reduce((sum, block) => sum + block.length, 0) - taken;
}
