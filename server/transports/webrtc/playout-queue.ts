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

/** Queue of audio to be played, in frames of equal length. Has no clock; reports when a response starts and stops. */
export class PlayoutQueue {
  readonly #frameSamples: number;
  readonly #tell: (event: PlayoutEvent) => void;
  #segments: Segment[] = [];
  /** Responses that were cut, and whose last audio may still arrive. */
  readonly #cut = new Set<string>();

  constructor(frameSamples: number, tell: (event: PlayoutEvent) => void) {
    this.#frameSamples = frameSamples;
    this.#tell = tell;
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
      if (!segment.complete) this.#cut.add(segment.responseId);
      if (segment.started) this.#tell({ type: 'output_audio_buffer.cleared', response_id: segment.responseId });
    }
    return dropped.map(({ responseId, played }) => ({ responseId, playedSamples: played }));
  }

  /** Drops the queued audio of a response; later audio is played. Returns the position in samples, if it is known. */
  hold(responseId: string): number | undefined {
    const segment = this.#segments.find((candidate) => candidate.responseId === responseId);
    if (segment === undefined) return undefined;
    segment.position += waitingIn(segment);
    segment.blocks.length = 0;
    segment.taken = 0;
    return segment.played;
  }

  /** Returns the next frame, if there is a complete one. The last frame of a response is padded with silence. */
  next(): Float32Array | undefined {
    const [segment] = this.#segments;
    if (segment === undefined) return undefined;
    if (waitingIn(segment) < this.#frameSamples && !segment.complete) return undefined;
    if (!segment.started) {
      segment.started = true;
      this.#tell({ type: 'output_audio_buffer.started', response_id: segment.responseId });
    }
    const frame = this.#take(segment);
    this.#retire();
    return frame;
  }

  #take(segment: Segment): Float32Array {
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
    return frame;
  }

  /** Removes responses that have been played to the end. */
  #retire(): void {
    for (;;) {
      const [segment] = this.#segments;
      if (segment === undefined || !segment.complete || segment.blocks.length > 0) return;
      this.#segments.shift();
      if (segment.started) this.#tell({ type: 'output_audio_buffer.stopped', response_id: segment.responseId });
    }
  }
}

function waitingIn({ blocks, taken }: Segment): number {
  return blocks.reduce((sum, block) => sum + block.length, 0) - taken;
}
