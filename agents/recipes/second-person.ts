import type { Character } from '../../characters/character.ts';

/** True if a character's prompt is in Chinese: by its first language. */
export function isChinese({ languages }: Character): boolean {
  return languages[0]?.startsWith('zh') === true;
}

/** The name with its work, if that is known. */
export function nameAndWork({ name, work }: Character): string {
  return /imported/iu.test(work.title) ? name : `${name} from ${work.title}`;
}

/**
 * The card as one description, addressed to the model that plays the character. RoleLLM has a model convert it to the
 * second person; we keep the card's own sentences, since no rule resolves its pronouns.
 */
export function describedToYou(character: Character): string {
  const { name, identity, profile, background, style, temperament, catchphrases } = character;
  const parts = [
    `${name}: ${identity}`,
    profile,
    background,
    temperament.length === 0 ? '' : `Your temperament: ${temperament.join(', ')}.`,
    style === '' ? '' : `How you speak: ${style}`,
    catchphrases.length === 0 ? '' : `Your catchphrases: ${catchphrases.map((phrase) => `"${phrase}"`).join(' ')}`,
  ];
  return parts.filter((part) => part !== '').join(' ');
}
