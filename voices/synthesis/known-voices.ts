import type { PcmBlock } from '../calls/pcm-stream.ts';
import { EngineError } from '../engine.ts';
import type { Voice } from '../synthesizer.ts';

/** The voices of a server that has no list of them, as far as it has rejected some. */
export interface KnownVoices {
  /** Speaks with a voice; with the default one if the server rejects it, and from then on at once. */
  speak(wanted: Voice, say: (voiceId: string) => AsyncIterable<PcmBlock>): AsyncGenerator<PcmBlock>;
}

/** `isAboutVoice`: whether a call that was refused can mean that the voice is unknown. */
export function openKnownVoices(defaultVoice: string, isAboutVoice: (fault: EngineError) => boolean): KnownVoices {
  const unknown = new Set<string>();
  return {
    async *speak(wanted, say) {
      const id = wanted.kind === 'preset' ? wanted.id : defaultVoice;
      const voice = unknown.has(id) ? defaultVoice : id;
      let hasSpoken = false;
      try {
        for await (const block of say(voice)) {
          hasSpoken = true;
          yield block;
        }
      } catch (cause) {
        const isVoice = cause instanceof EngineError && cause.code === 'ENGINE_REFUSED' && isAboutVoice(cause);
        if (!isVoice || hasSpoken || voice === defaultVoice) throw cause;
        for await (const block of say(defaultVoice)) {
          unknown.add(voice);
          yield block;
        }
      }
    },
  };
}

/** The account does not have the default voice. */
export function missingVoice(engine: string, voice: string): EngineError {
  const detail = `the account has no voice "${voice}". Set "defaultVoice" to the id of one that it has.`;
  return new EngineError(engine, 'ENGINE_REFUSED', detail);
}
