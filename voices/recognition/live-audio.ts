/** Receiver of audio blocks. */
interface AudioListener {
  block(bytes: Buffer): void;
  end(): void;
}

/** 16-bit little-endian PCM of one utterance as it arrives; one listener at a time gets it from the beginning. */
export interface LiveAudio {
  /** Delivers the blocks so far, then those that arrive. Returns a function that stops it. */
  follow(listener: AudioListener): () => void;
}

/** Audio that is kept, so that a failed request can be retried. */
export class RetainedAudio implements LiveAudio {
  #blocks: Buffer[] = [];
  #isKept = true;
  #hasEnded = false;
  #listener: AudioListener | undefined;

  push(block: Buffer): void {
    if (this.#isKept) this.#blocks.push(block);
    this.#listener?.block(block);
  }

  end(): void {
    this.#hasEnded = true;
    this.#listener?.end();
  }

  /** Drops the kept audio, because no request will be retried. */
  forget(): void {
    this.#isKept = false;
    this.#blocks = [];
  }

  follow(listener: AudioListener): () => void {
    for (const block of this.#blocks) listener.block(block);
    if (this.#hasEnded) listener.end();
    this.#listener = listener;
    return () => {
      if (this.#listener === listener) this.#listener = undefined;
    };
  }
}
