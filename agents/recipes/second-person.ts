import type { Character } from '../../characters/character.ts';

/** Whether a character is told in Chinese: by its first language. */
export function isChinese({ languages }: Character): boolean {
  return languages[0]?.startsWith('zh') === true;
}

/** The name with the work it is from, where that is known. */
export function nameAndWork({ name, work }: Character): string {
  return /imported/iu.test(work.title) ? name : `${name} from ${work.title}`;
}

/**
 * A card as one description, addressed to whoever plays it. RoleLLM has a model turn it into the second person; we leave the card's
 * own sentences as they are, since no rule tells whose "he" is whose.
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
