import type { Character } from '../../characters/character.ts';
import type { Recipe } from '../recipe.ts';
import { plainTalk } from './plain-talk.ts';
import { isChinese } from './second-person.ts';

/**
 * DITTO (Lu et al. 2024, §3): the role as an encyclopedia has it, properties (claims) and an introduction, and the rule that a
 * question beyond the role's knowledge is refused as the role would refuse it.
 */
export const ditto: Recipe =
  (character) =>
  (history, { scene, historyTokens = 2_000, hasTools }) => ({
    messages: plainTalk(history, { instruction: instruction(character), scene, hasTools, historyTokens }),
    sampling: { temperature: 0.7 },
    maxTokens: 300,
  });

function instruction(character: Character): string {
  const { name, identity, profile, background, knowledge } = character;
  const properties = propertiesOf(character).map(([key, value]) => `- ${key}: ${value}`);
  const introduction = [identity, profile, background].filter(Boolean).join('\n');
  return isChinese(character)
    ? `你要扮演${name}，始终以第一人称、用这个人物的身份和口吻说话。\n\n属性：\n${properties.join('\n')}\n\n简介：\n${introduction}\n\n凡是超出${name}的时代、世界或经历的问题，都要以${name}的方式表示不知道，不可作答。${knowledge.unknown}`
    : `Play ${name}: speak in the first person, with this identity and in this voice, throughout.\n\nProperties:\n${properties.join('\n')}\n\nIntroduction:\n${introduction}\n\nWhat lies beyond the time, the world or the life of ${name} you do not know: refuse such questions as ${name} would, and do not answer them. ${knowledge.unknown}`;
}

function propertiesOf({
  name,
  work,
  relationships,
  temperament,
  mbti,
  languages,
  knowledge,
}: Character): [string, string][] {
  const rows: [string, string | undefined][] = [
    ['name', name],
    ['work', work.title],
    ['author', work.author],
    ['languages', languages.join(', ')],
    ['character', temperament.join(', ')],
    ['personality type', mbti],
    ['knows nothing after', knowledge.untilYear === undefined ? undefined : String(knowledge.untilYear)],
    ...relationships.map((person): [string, string] => [person.name, person.relation]),
  ];
  return rows.filter((row): row is [string, string] => row[1] !== undefined && row[1] !== '');
}
