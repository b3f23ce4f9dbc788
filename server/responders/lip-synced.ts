import type { Character } from '../../characters/character.ts';
import type { SpeechChunk } from '../../voices/synthesizer.ts';
import { VisemesBySound } from '../../voices/visemes/visemes-by-sound.ts';
import type { Responder } from '../session/contract/responder.ts';

/** Telephone bands and above. */
const leastSampleRate = 8_000;

/** The part of the engines that makes replies. */
interface Responders {
  responderFor(character: Character): Responder;
}

/** Returns the responders with the mouth shapes, found in the sound, wherever an engine tells none. */
export function lipSynced(engines: Responders): Responders {
  return {
    responderFor(character) {
      const responder = engines.responderFor(character);
      return {
        ...responder,
        async *reply(history, options) {
          const withShapes = shapesBySound();
          for await (const part of responder.reply(history, options))
            yield part.type === 'speech' ? { ...part, chunk: withShapes(part.chunk) } : part;
        },
      };
    },
  };
}

/** Returns a function that adds the shapes to chunks of one speaker, which come in order. */
export function shapesBySound(): (chunk: SpeechChunk) => SpeechChunk {
  let hearing: { readonly sampleRate: number; readonly visemes: VisemesBySound } | undefined;
  return (chunk) => {
    const { frame, mouth } = chunk;
    if (mouth !== undefined || frame.samples.length === 0 || frame.sampleRate < leastSampleRate) return chunk;
    if (hearing?.sampleRate !== frame.sampleRate)
      hearing = { sampleRate: frame.sampleRate, visemes: new VisemesBySound(frame.sampleRate) };
    return { ...chunk, mouth: hearing.visemes.take(frame) };
  };
}
