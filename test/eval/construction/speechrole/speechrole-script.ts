import { hash } from 'node:crypto';
import type { TextRequest } from '../../../../eval/construction/runner/model.ts';
import type { Answers } from '../rig/scripted-model.ts';

const userText = (request: TextRequest): string => request.messages[1]?.content ?? '';
const between = (text: string, from: string, to: string): string => text.split(from)[1]?.split(to)[0] ?? '';

/** Answers for SpeechRole's dialogues, made from the script that they are asked about. */
export function speechRoleScript(): Answers {
  return {
    generate(request) {
      const text = userText(request);
      const lines = between(text, '<script>\n', '\n</script>')
        .split('\n')
        .filter((line) => line.length > 12);
      const isMulti = text.includes('2 to 4 turns');
      return Array.from({ length: 10 }, (_, at) => {
        const line = lines[(at * 3) % Math.max(1, lines.length)] ?? 'Nothing is known.';
        const next = lines[(at * 3 + 1) % Math.max(1, lines.length)] ?? line;
        const pair = { user: `Is it true that ${line.slice(0, 80)}?`, role: `It is: ${line}` };
        const dialogue = isMulti ? [pair, { user: `And then ${next}?`, role: next }] : [pair];
        // One of ten has no context, and one has the wrong number of turns.
        return { dialogue: at === 9 ? [...dialogue, pair, pair, pair, pair] : dialogue, context: at === 8 ? '' : line };
      });
    },
    category(request) {
      const names = (request.messages[0]?.content ?? '')
        .split('\n')
        .flatMap((line) => /^- (.+?):/.exec(line)?.[1] ?? []);
      return { category: names[hash('sha1', userText(request), 'buffer').readUInt8(0) % names.length] };
    },
  };
}
