import type { Character } from '../../characters/character.ts';
import type { Voice } from '../../voices/synthesizer.ts';
import type { Reference } from './engines-file.ts';

/** What is known about the voices of an engine. */
export interface Casting {
  /** The engine's own voices, by character, gender or `*`. */
  readonly voices: Readonly<Record<string, string>>;
  /** Clips, by the same; of use to engines that clone alone. */
  readonly references: Readonly<Record<string, Reference>>;
  readonly clones: boolean;
}

/**
 * The voice in which an engine speaks as a character: what is said of the character, else of its gender, else of everybody; a
 * voice of the engine's own before a clip. Where nothing is said, the voice is called like the character.
 */
export function voiceOf(character: Pick<Character, 'id' | 'voice'>, { voices, references, clones }: Casting): Voice {
  for (const whom of [character.id, character.voice.gender, '*']) {
    const id = voices[whom];
    if (id !== undefined) return { kind: 'preset', id };
    const reference = references[whom];
    if (clones && reference !== undefined) {
      const { wav: wavPath, transcript, language } = reference;
      return { kind: 'reference', wavPath, transcript, language };
    }
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
