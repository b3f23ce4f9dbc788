/** Whose turn it is to sound: one response after another, each from its first sample to its last. */
interface Segment {
  readonly responseId: string;
  readonly blocks: Float32Array[];
  /** Samples of the first block that have been taken. */
  taken: number;
  /** Where its next sample stands, among all that have come. */
  position: number;
  /** As far as it has been played: where its last sample stood. */
  played: number;
  started: boolean;
  /** Nothing more will come. */
  complete: boolean;
}

/** A response whose sound was dropped: how far it had been played, in samples, counting all that came. */
export interface CutResponse {
  readonly responseId: string;
  readonly playedSamples: number;
}

/** What a client is told of the sound on its way to it, as OpenAI Realtime (GA) has it for WebRTC. */
export interface PlayoutEvent {
  readonly type: 'output_audio_buffer.started' | 'output_audio_buffer.stopped' | 'output_audio_buffer.cleared';
  readonly response_id: string;
}

/** Sound that waits to be played, in frames of equal length. Knows no time; tells when a response starts and stops. */
export class PlayoutQueue {
  readonly #frameSamples: number;
  readonly #tell: (event: PlayoutEvent) => void;
  #segments: Segment[] = [];
  /** Responses that were cut, whose last sound may still be on its way here. */
  readonly #cut = new Set<string>();

  constructor(frameSamples: number, tell: (event: PlayoutEvent) => void) {
    this.#frameSamples = frameSamples;
    this.#tell = tell;
  }

  /** Adds sound at the end of its response. */
  push(responseId: string, samples: Float32Array): void {
    if (samples.length === 0 || this.#cut.has(responseId)) return;
    let segment = this.#segments.find((candidate) => candidate.responseId === responseId);
    if (segment === undefined) {
      segment = { responseId, blocks: [], taken: 0, position: 0, played: 0, started: false, complete: false };
      this.#segments.push(segment);
    }
    segment.blocks.push(samples);
  }

  /** No more sound of this response will come: what is there plays to its end. Returns whether there is any. */
  complete(responseId: string): boolean {
    this.#cut.delete(responseId);
    const segment = this.#segments.find((candidate) => candidate.responseId === responseId);
    if (segment === undefined) return false;
    segment.complete = true;
    this.#retire();
    return this.#segments.includes(segment);
  }

  /** Drops the sound of some responses, by default of all, and whatever comes of them later. Returns whose that was. */
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

  /**
   * Drops what of a response waits to be played; what comes of it later is played. Returns how far it has been played, in
   * samples; undefined where nothing of it is known.
   */
  hold(responseId: string): number | undefined {
    const segment = this.#segments.find((candidate) => candidate.responseId === responseId);
    if (segment === undefined) return undefined;
    segment.position += waitingIn(segment);
    segment.blocks.length = 0;
    segment.taken = 0;
    return segment.played;
  }

  /** The next frame; undefined where there is none, or not yet a whole one. The last of a response is filled with silence. */
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

  /** Lets go of responses that have been played to their end. */
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
