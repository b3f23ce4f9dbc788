import type { TextRequest } from '../../../../eval/construction/runner/model.ts';
import { sentencesOf } from '../../../../eval/construction/books/locate.ts';
import type { Answers } from '../rig/scripted-model.ts';

const userText = (request: TextRequest): string => request.messages[1]?.content ?? '';
const systemText = (request: TextRequest): string => request.messages[0]?.content ?? '';
const between = (text: string, from: string, to: string): string => text.split(from)[1]?.split(to)[0] ?? '';

/** Answers for the novel build, made from the text it asks about: two persons talk, now and then a third. */
export function novelScript(role: string, partner: string, trait: string, manner: string): Answers {
  const aspects: readonly (readonly [string, object])[] = [
    ['"character":', { character: [trait.toUpperCase(), 'a word of no list'] }],
    ['"style":', { style: [manner] }],
    ['"happiness":', { happiness: 1, sadness: '2', disgust: 0, fear: 3, surprise: 4, anger: 5 }],
    ['"relationship":', { relationship: 6 }],
    ['"personality":', { personality: 'intp' }],
  ];
  return {
    scene: () => ({ scene: `${role} and ${partner} are in a room.`, scenes: 1 }),
    score: () => `It shows in most lines.\n{"score": 7}`,
    extract(request) {
      const lines = sentencesOf(between(userText(request), '<text>\n', '\n</text>')).slice(0, 30);
      return lines
        .map(
          ({ text }, at) =>
            `${at % 11 === 10 ? 'a servant' : at % 2 === 0 ? partner : role}|${text.replaceAll('|', ' ')}（nods）`,
        )
        .join('\n');
    },
    coherence: (request) => ({ scene: `Later. ${between(userText(request), 'Scene: ', '\n')}`, coherence: 1 }),
    conflict: () => 'I see none.\n```json\n{"conflict": 0}\n```',
    align(request) {
      const [, answer] = aspects.find(([key]) => systemText(request).includes(key)) ?? [];
      return `The lines show it.\n${JSON.stringify(answer)}`;
    },
  };
}

/** A table of one role, as the build reads it. */
export function roleTable(name: string, trait: string, manner: string): string {
  return JSON.stringify([{ name, traits: [trait, 'patient'], manner: [manner, 'dry'], mbti: 'INTJ', world: 'London' }]);
}
