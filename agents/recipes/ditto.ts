import type { Character } from '../../characters/character.ts';
import { languageName } from '../prompting/persona-words.ts';
import type { Recipe } from '../prompting/recipe.ts';
import { plainTalk } from './plain-talk.ts';
import { isChinese } from './second-person.ts';

/**
 * DITTO (Lu et al. 2024, appendix B.2): the rules first (answer by your identity; refuse in the role what does not
 * belong to it, and explain why from there; do not step out; do not restate name and identity), then name and
 * description, properties (claims) and introduction as in an encyclopedia. Top-p 0.8 as in appendix C; chat servers do
 * not offer its length penalty, and its 2,048 tokens are too many for speech. A card has no claims: its fields stand
 * for them. We add what the card says that the role does not know.
 */
export const ditto: Recipe =
  (character) =>
  (history, { scene, historyTokens = 2_000, hasTools }) => ({
    messages: plainTalk(history, { character, instruction: instruction(character), scene, hasTools, historyTokens }),
    sampling: { topP: 0.8 },
    maxTokens: 300,
  });

function instruction(character: Character): string {
  const { name, tagline, identity, profile, background, knowledge } = character;
  const properties = propertiesOf(character)
    .map(([key, value]) => `- ${key}: ${value}`)
    .join('\n');
  const introduction = [identity, profile, background].filter(Boolean).join('\n');
  return isChinese(character)
    ? `按你的身份回答问题。遇到与你的身份不符的问题，要以${name}的身份拒绝回答，并从自己的身份出发说明为什么。不要跳出角色，也不要一再重复自己的身份和名字。${knowledge.unknown}\n\n你是${name}，${tagline}\n\n属性：\n${properties}\n\n简介：\n${introduction}`
    : `Answer by your identity. A question that does not belong to it you refuse in the part of ${name}, and tell from that identity why. Do not step out of the part, and do not keep restating who you are. What lies beyond you: ${knowledge.unknown}\n\nYou are ${name}: ${tagline}\n\nProperties:\n${properties}\n\nIntroduction:\n${introduction}`;
}

const labels = {
  en: ['name', 'work', 'author', 'languages', 'character', 'personality type', 'knows nothing after'],
  zh: ['姓名', '作品', '作者', '语言', '性格', '性格类型', '此后的事一概不知'],
} as const;

function propertiesOf(character: Character): [string, string][] {
  const { name, work, relationships, temperament, mbti, languages, knowledge } = character;
  const language = isChinese(character) ? 'zh' : 'en';
  const comma = language === 'zh' ? '、' : ', ';
  const spoken = languages.map((tag) => languageName(tag, language)).join(comma);
  const year = knowledge.untilYear === undefined ? undefined : String(knowledge.untilYear);
  const values = [name, work.title, work.author, spoken, temperament.join(comma), mbti, year];
  const rows = labels[language].map((label, at): [string, string | undefined] => [label, values[at]]);
  return [...rows, ...relationships.map((person): [string, string] => [person.name, person.relation])].filter(
    (row): row is [string, string] => row[1] !== undefined && row[1] !== '',
  );
}
