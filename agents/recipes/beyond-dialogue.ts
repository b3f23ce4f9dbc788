import type { Character } from '../../characters/character.ts';
import type { Recipe } from '../recipe.ts';
import { calmFeelings, type Feelings } from '../feelings.ts';
import { plainTalk } from './plain-talk.ts';
import { isChinese } from './second-person.ts';

/**
 * Beyond Dialogue (§3, system prompt of its RPA): traits, MBTI, manner of speech, world and scene of the role, six emotions from 0
 * to 10 and how close it is to its partner, also 0 to 10. Where a talk has no state of feelings yet they stand at rest.
 */
export const beyondDialogue: Recipe =
  (character) =>
  (history, { scene, historyTokens = 2_000, hasTools, feelings = calmFeelings }) => ({
    messages: plainTalk(history, {
      instruction: instruction(character),
      scene,
      hasTools,
      historyTokens,
      state: stateOf(character, feelings),
    }),
    sampling: { temperature: 0.7 },
    maxTokens: 200,
  });

function instruction(character: Character): string {
  const { name, temperament, mbti, style, work, profile, scenario = '' } = character;
  const rows = isChinese(character)
    ? [
        `你是${name}，出自${work.title}。${profile}`,
        `性格：${temperament.join('，')}`,
        mbti === undefined ? '' : `MBTI：${mbti}`,
        style === '' ? '' : `说话风格：${style}`,
        scenario === '' ? '' : `场景：${scenario}`,
        '请始终以这个人物的性格、MBTI和说话风格来对话，不要一次说得太长，也不要跳出角色。',
      ]
    : [
        `You are ${name}, of ${work.title}. ${profile}`,
        `Character: ${temperament.join(', ')}`,
        mbti === undefined ? '' : `MBTI: ${mbti}`,
        style === '' ? '' : `Manner of speech: ${style}`,
        scenario === '' ? '' : `Scene: ${scenario}`,
        'Talk with that character, type and manner of speech throughout; thirty words a turn at most; do not step out of the part.',
      ];
  return rows.filter(Boolean).join('\n');
}

function stateOf(character: Character, { emotions, intimacy }: Feelings): string {
  const rows = Object.entries(emotions).map(([name, level]) => `${name} ${level}`);
  return isChinese(character)
    ? `你此刻的情绪（0到10）：${rows.join('，')}。你与对方的亲密程度（0到10）：${intimacy}。让话里带出这样的情绪和关系。`
    : `What you feel now (0 to 10): ${rows.join(', ')}. How close you are to your partner (0 to 10): ${intimacy}. Let your words carry it.`;
}
