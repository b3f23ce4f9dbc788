import { EngineError } from '../../voices/engine.ts';

/** The WebRTC library, as a module. */
export type Library = typeof import('node-datachannel');

/** Loads the WebRTC library, which is native and not needed by everybody. Throws an `EngineError` where it is missing. */
export async function loadLibrary(): Promise<Library> {
  try {
    return await import('node-datachannel');
  } catch (cause) {
    const detail =
      'node-datachannel cannot be loaded. Install without --omit=optional; it has builds for Linux, macOS and Windows.';
    throw new EngineError('WebRTC', 'ENGINE_MISSING', detail, cause);
  }
}
