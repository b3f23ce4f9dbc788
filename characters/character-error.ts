/** A card or pack that cannot be read or played; the message names the file, the row, the problem and the remedy. */
export class CharacterError extends Error {
  override readonly name = 'CharacterError';
  readonly code = 'character_invalid';
}
