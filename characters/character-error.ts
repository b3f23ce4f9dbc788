/** A card or pack that cannot be read or played: which file, which row, what is wrong, and what to do. */
export class CharacterError extends Error {
  override readonly name = 'CharacterError';
  readonly code = 'character_invalid';
}
