import type { Character } from '../../characters/character.ts';
import type { Recipe } from '../prompting/recipe.ts';
import { basicEmotions, calmFeelings, type BasicEmotion, type Feelings } from '../feelings.ts';
import { plainTalk } from './plain-talk.ts';
import { isChinese } from './second-person.ts';

/**
 * Beyond Dialogue (system prompt of its RPA, appendix F.3): name and world, traits, MBTI, manner of speech, scene, six
 * emotions from 0 to 10, and intimacy with the partner, also 0 to 10; asks for a brief sentence. The original has no
 * life story, so that part of the card is left out. The partner is the user; feelings are at rest if the conversation
 * has no state of them yet.
 */
export const beyondDialogue: Recipe =
  (character) =>
  (history, { scene, historyTokens = 2_000, hasTools, feelings = calmFeelings }) => ({
    messages: plainTalk(history, {
      character,
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
  const { name, temperament, mbti, style, work, scenario = '' } = character;
  const rows = isChinese(character)
    ? [
        `请你像${name}本人一样回答，你活在《${work.title}》的世界里，性格、语气、神态和用词都是${name}的。不要说自己是人工智能或语言模型，始终记得你是${name}。`,
        `${name}的性格：${temperament.join('，')}`,
        mbti === undefined ? '' : `${name}的MBTI：${mbti}`,
        style === '' ? '' : `${name}的说话风格：${style}`,
        scenario === '' ? '' : `场景：${scenario}`,
        `每次以${name}的身份回答客人一小句话，要显出上面的性格、MBTI、说话风格和情绪。`,
      ]
    : [
        `Answer as ${name} yourself, living in the world of ${work.title}, with the personality, the tone, the manner and the vocabulary of ${name}. Never say that you are an AI or a language model, and always remember that you are ${name}.`,
        `Character of ${name}: ${temperament.join(', ')}`,
        mbti === undefined ? '' : `MBTI of ${name}: ${mbti}`,
        style === '' ? '' : `Manner of speech of ${name}: ${style}`,
        scenario === '' ? '' : `Scene: ${scenario}`,
        `Answer your visitor as ${name}, each time with one brief sentence that shows this character, type, manner of speech and emotion.`,
      ];
  return rows.filter(Boolean).join('\n');
}

/** Names of the emotions in the Chinese files of Beyond Dialogue. */
const inChinese: Readonly<Record<BasicEmotion, string>> = {
  happiness: '快乐',
  sadness: '悲伤',
  disgust: '厌恶',
  fear: '恐惧',
  surprise: '惊讶',
  anger: '愤怒',
};

function stateOf(character: Character, { emotions, intimacy }: Feelings): string {
  const isZh = isChinese(character);
  const rows = basicEmotions.map((name) => `${isZh ? inChinese[name] : name} ${emotions[name]}`);
  return isZh
    ? `你此刻的情绪（0到10）：${rows.join('，')}。你与对方的亲密程度（0到10）：${intimacy}。让话里带出这样的情绪和关系。`
    : `What you feel now (0 to 10): ${rows.join(', ')}. How close you are to your partner (0 to 10): ${intimacy}. Let your words carry it.`;
}
