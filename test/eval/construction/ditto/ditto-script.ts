import type { WikiCharacter } from '../../../../eval/construction/ditto/characters.ts';
import type { TextRequest } from '../../../../eval/construction/runner/model.ts';
import type { Answers } from '../rig/scripted-model.ts';

const userText = (request: TextRequest): string => request.messages[1]?.content ?? '';
const nameIn = (text: string): string => /Name: (.+)/.exec(text)?.[1] ?? '';

/** Answers for DITTO's build. */
export function dittoScript(): Answers {
  return {
    query(request) {
      const name = nameIn(userText(request));
      return [1, 2, 3].map((at) => ({
        question: `What did you, ${name}, do in your year ${at}?`,
        explanation: 'It was there.',
      }));
    },
    response(request) {
      const own = nameIn(request.messages[0]?.content ?? '');
      return userText(request).includes(own)
        ? 'I worked, as I always have.'
        : 'Of that I know nothing; it was not my time.';
    },
  };
}

/** Characters of an encyclopedia that does not exist. */
export function wikiCharacters(count: number, lang: 'en' | 'zh'): WikiCharacter[] {
  return Array.from({ length: count }, (_, at) => ({
    id: `Q${at + 10}`,
    label: lang === 'zh' ? `人物${at}号` : `Person Number${at}`,
    description: lang === 'zh' ? `第${at}位诗人` : `poet of the year ${at}`,
    aliases: [`P${at}`],
    claims: [[lang === 'zh' ? '职业' : 'occupation', lang === 'zh' ? '诗人' : 'poet']],
    lang,
    summary: lang === 'zh' ? `人物${at}号写诗，住在长安。` : `Person Number${at} wrote poems and lived in Rome.`,
  }));
}
