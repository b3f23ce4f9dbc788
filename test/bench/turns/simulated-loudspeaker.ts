import { rate, samplesIn } from './turns-sounds.ts';

interface Piece {
  readonly fromMs: number;
  samples: Float32Array;
}

/** The playback of a client over time: pieces play without gaps until stopped. 16 kHz. */
export class Loudspeaker {
  readonly #pieces: Piece[] = [];

  /** Queues audio after everything already queued. */
  play(samples: Float32Array, nowMs: number): void {
    this.#pieces.push({ fromMs: Math.max(nowMs, this.#endMs), samples });
  }

  /** Falls silent and drops the audio not yet played. */
  stop(nowMs: number): void {
    while ((this.#pieces.at(-1)?.fromMs ?? -1) >= nowMs) this.#pieces.pop();
    const last = this.#pieces.at(-1);
    if (last !== undefined && this.#endMs > nowMs)
      last.samples = last.samples.subarray(0, samplesIn(nowMs - last.fromMs));
  }

  /** Time spans of playback, past and planned. */
  get spans(): { readonly fromMs: number; readonly toMs: number }[] {
    const spans: { fromMs: number; toMs: number }[] = [];
    for (const piece of this.#pieces) {
      const last = spans.at(-1);
      if (last !== undefined && piece.fromMs - last.toMs < 1) last.toMs = endOf(piece);
      else spans.push({ fromMs: piece.fromMs, toMs: endOf(piece) });
    }
    return spans;
  }

  /** Time spans of playback up to now. */
  spansBy(nowMs: number): { readonly fromMs: number; readonly toMs: number }[] {
    return this.spans
      .filter(({ fromMs }) => fromMs < nowMs)
      .map(({ fromMs, toMs }) => ({ fromMs, toMs: Math.min(nowMs, toMs) }));
  }

  /** Audio played from `fromMs` on, for `ms`. */
  soundAt(fromMs: number, ms: number): Float32Array {
    const sound = new Float32Array(samplesIn(ms));
    for (const piece of this.#pieces.slice(-40)) {
      if (piece.fromMs >= fromMs + ms || endOf(piece) <= fromMs) continue;
      const offset = samplesIn(piece.fromMs - fromMs);
      for (let index = Math.max(0, offset); index < sound.length; index += 1)
        sound[index] = piece.samples[index - offset] ?? 0;
    }
    return sound;
  }

  get #endMs(): number {
    const last = this.#pieces.at(-1);
    return last === undefined ? 0 : endOf(last);
  }
}

function endOf({ fromMs, samples }: Piece): number {
  return fromMs + (samples.length / rate) * 1000;
}
