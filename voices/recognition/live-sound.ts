/** Who is told of sound. */
interface SoundListener {
  block(bytes: Buffer): void;
  end(): void;
}

/** 16-bit little-endian sound of one utterance as it comes, for one listener at a time, who hears it from its beginning. */
export interface LiveSound {
  /** Tells what there is, then what comes. Returns what ends that. */
  follow(listener: SoundListener): () => void;
}

/** Sound that is kept, so that a request that failed can be made again. */
export class Recording implements LiveSound {
  #blocks: Buffer[] = [];
  #isKept = true;
  #hasEnded = false;
  #listener: SoundListener | undefined;

  push(block: Buffer): void {
    if (this.#isKept) this.#blocks.push(block);
    this.#listener?.block(block);
  }

  end(): void {
    this.#hasEnded = true;
    this.#listener?.end();
  }

  /** Nobody will listen anew. */
  forget(): void {
    this.#isKept = false;
    this.#blocks = [];
  }

  follow(listener: SoundListener): () => void {
    for (const block of this.#blocks) listener.block(block);
    if (this.#hasEnded) listener.end();
    this.#listener = listener;
    return () => {
      if (this.#listener === listener) this.#listener = undefined;
    };
  }
}
