import { sentencesOf } from '../../../../eval/construction/books/locate.ts';
import type { TextRequest } from '../../../../eval/construction/runner/model.ts';
import type { Answers } from '../rig/scripted-model.ts';

const between = (text: string, from: string, to: string): string => text.split(from)[1]?.split(to)[0] ?? '';
const userText = (request: TextRequest): string => request.messages[1]?.content ?? '';

/** Answers for CoSER that are made from the text they are asked about, for any book. */
export function coserScript(people: readonly [string, string, string]): Answers {
  const [one, two, three] = people;
  return {
    extract(request) {
      const text = between(userText(request), '<text>\n', '\n</text>');
      const sentences = sentencesOf(text).filter((sentence) => sentence.text.length > 20);
      const third = Math.floor(sentences.length / 3);
      const plotAt = (index: number): object => {
        const own = sentences.slice(index * third, (index + 1) * third);
        const lines = own.slice(0, 10).map((sentence, at) => ({
          character: [one, two, 'Environment', three, 'a passer-by'][at % 5] as string,
          message: at % 3 === 0 ? `[I must be careful.] (nods) ${sentence.text}` : sentence.text,
        }));
        return {
          chapter_title: `Chapter ${index}`,
          first_sentence: own[0]?.text,
          last_sentence: own.at(-1)?.text,
          prominence: 50 + index,
          summary: `${one} and ${two} talk about ${own[3]?.text ?? ''}`,
          key_characters: people.map((name) => ({
            name,
            description: `${name} is in the story.`,
            experience: 'Something happens.',
          })),
          conversation: [
            {
              scenario: `A room. ${own[1]?.text ?? ''}`,
              topic: 'the matter at hand',
              key_characters: [one, two].map((name) => ({ name, motivation: 'I want to know.' })),
              dialogues: lines,
            },
          ],
          state: index === 2 ? 'truncated' : 'finished',
        };
      };
      return { plots: [0, 1, 2].map(plotAt), next_start: sentences.at(-third)?.text ?? null };
    },
    refine(request) {
      const motivations = between(userText(request), 'Motivations so far: ', '\n\nConversation:').split('\n');
      return {
        scenario: 'It is evening.',
        key_characters: motivations.map((line) => ({ name: line.split(': ')[0], motivation: 'I will find out.' })),
      };
    },
    names(request) {
      const names = between(`${userText(request)}\n`, 'Names:\n', '\n\n')
        .trim()
        .split('\n');
      return { names: Object.fromEntries(names.map((name) => [name, name === 'a passer-by' ? 'impersonal' : name])) };
    },
    profiles: (request) =>
      `Let me see.\n===Profile===\n${between(userText(request), 'Character: ', '\n')} is a person of this book.`,
  };
}
