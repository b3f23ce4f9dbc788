import { EngineError } from '../../voices/engine.ts';

/** The WebRTC library, as a module. */
export type Library = typeof import('node-datachannel');

/** Servers of this process that have opened it: its threads are stopped after the last of them. */
let holders = 0;

/** One server's hold on the WebRTC library, which is native, has threads of its own, and is not loaded before it is needed. */
export class LibraryHold {
  #loading: Promise<Library> | undefined;

  /** Loads it, the first time. Throws an `EngineError` where it is not installed. */
  load(): Promise<Library> {
    this.#loading ??= import('node-datachannel').then(
      (library) => {
        holders += 1;
        return library;
      },
      (cause: unknown) => {
        const detail =
          'node-datachannel cannot be loaded. Install without --omit=optional; it has builds for Linux, macOS and Windows.';
        throw new EngineError('WebRTC', 'ENGINE_MISSING', detail, cause);
      },
    );
    return this.#loading;
  }

  /** Lets go of it. All its connections must have been closed. */
  async release(): Promise<void> {
    const library = await this.#loading?.catch(() => undefined);
    this.#loading = undefined;
    if (library === undefined) return;
    holders -= 1;
    // Without this its threads keep the process alive.
    if (holders === 0) library.cleanup();
  }
}
