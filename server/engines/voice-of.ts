import type { Character } from '../../characters/character.ts';
import type { ReferenceVoice, Voice } from '../../voices/synthesizer.ts';
import type { Reference } from './engines-file.ts';

/** What is known about the voices of an engine. */
export interface Casting {
  /** The engine's own voices, by character, gender or `*`. */
  readonly voices: Readonly<Record<string, string>>;
  /** Clips, by the same; of use to engines that clone alone. */
  readonly references: Readonly<Record<string, Reference>>;
  readonly clones: boolean;
  /** A voice of the library by its id; undefined where there is none that may be cloned. */
  readonly libraryVoice?: (id: string) => Reference | undefined;
}

/**
 * The voice in which an engine speaks as a character: what is said of the character (its card may name a voice of the library), else of its gender, else of everybody; a
 * voice of the engine's own before a clip. Where nothing is said, the voice is called like the character.
 */
export function voiceOf(character: Pick<Character, 'id' | 'voice'>, casting: Casting): Voice {
  const { voices, references, clones, libraryVoice } = casting;
  for (const whom of [character.id, character.voice.gender, '*']) {
    const id = voices[whom];
    if (id !== undefined) return { kind: 'preset', id };
    if (!clones) continue;
    const named = whom === character.id ? character.voice.reference : undefined;
    const reference = references[whom] ?? (named === undefined ? undefined : libraryVoice?.(named));
    if (reference !== undefined) return asVoice(reference);
  }
  return { kind: 'preset', id: character.id };
}

/** The same of a model that hears and speaks, which has voices of its own alone; undefined: its default. */
export function omniVoiceOf(
  { id, voice }: Pick<Character, 'id' | 'voice'>,
  voices: Casting['voices'],
): string | undefined {
  return voices[id] ?? voices[voice.gender] ?? voices['*'];
}

function asVoice({ wav: wavPath, voice: id, transcript, language, consent }: Reference): ReferenceVoice {
  return { kind: 'reference', wavPath, transcript, language, consent, ...(id !== undefined && { id }) };
}
