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
 * The card addressed to the model (RoleLLM's second person): its `description2` and its catchphrases. A card without one
 * keeps its own sentences in the third person, since no rule resolves their pronouns.
 */
export function describedToYou(character: Character): string {
  const { description2 = '', catchphrases } = character;
  const isZh = isChinese(character);
  const quoted = catchphrases.map((phrase) => (isZh ? `“${phrase}”` : `"${phrase}"`)).join(isZh ? '' : ' ');
  const parts = [
    ...(description2 === '' ? ownWords(character) : [description2]),
    catchphrases.length === 0 ? '' : `${isZh ? '你的口头禅：' : 'Your catchphrases: '}${quoted}`,
  ];
  return parts.filter((part) => part !== '').join(' ');
}

function ownWords(character: Character): string[] {
  const { name, identity, profile, background, style, temperament } = character;
  const isZh = isChinese(character);
  const [temper, manner] = isZh ? ['你的性格：', '你说话的方式：'] : ['Your temperament: ', 'How you speak: '];
  return [
    isZh ? `${name}：${identity}` : `${name}: ${identity}`,
    profile,
    background,
    temperament.length === 0 ? '' : `${temper}${temperament.join(isZh ? '、' : ', ')}${isZh ? '。' : '.'}`,
    style === '' ? '' : `${manner}${style}`,
  ];
}
