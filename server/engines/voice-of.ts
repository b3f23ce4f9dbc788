import type { Character } from '../../characters/character.ts';
import type { Voice } from '../../voices/synthesizer.ts';
import type { Reference } from './engines-file.ts';

export interface EngineVoices {
  /** The engine's own voices, by character, gender or `*`. */
  readonly voices: Readonly<Record<string, string>>;
  /** Clips by the same keys; only used by engines that clone. */
  readonly references: Readonly<Record<string, Reference>>;
  readonly clones: boolean;
  /** Looks up a library voice; undefined if none with this id may be cloned. */
  readonly libraryVoice?: (id: string) => Reference | undefined;
}

/**
 * Picks the voice of a character: configured for it (its card may name a library voice), for its gender, for all; an
 * engine's voice before a clip. Otherwise the voice id is the character's.
 */
export function voiceOf(character: Pick<Character, 'id' | 'voice'>, casting: EngineVoices): Voice {
  const { voices, references, clones, libraryVoice } = casting;
  for (const whom of [character.id, character.voice.gender, '*']) {
    const preset = voices[whom];
    if (preset !== undefined) return { kind: 'preset', id: preset };
    if (!clones) continue;
    const named = whom === character.id ? character.voice.reference : undefined;
    const reference = references[whom] ?? (named === undefined ? undefined : libraryVoice?.(named));
    if (reference === undefined) continue;
    const { wav: wavPath, voice: id, transcript, language, consent } = reference;
    return { kind: 'reference', wavPath, transcript, language, consent, ...(id !== undefined && { id }) };
  }
  return { kind: 'preset', id: character.id };
}

/** Picks the voice of a speech-to-speech model, which cannot clone. Undefined means its default. */
export function omniVoiceOf(
  { id, voice }: Pick<Character, 'id' | 'voice'>,
  voices: EngineVoices['voices'],
): string | undefined {
  return voices[id] ?? voices[voice.gender] ?? voices['*'];
}
