import path from 'node:path';
import type { CharacterAgent } from '../../../agents/agent.ts';
import type { Message } from '../../../agents/chat.ts';
import { openAgents } from '../../../agents/actor/open.ts';
import { loadCharacters, type Character } from '../../../characters/character.ts';
import { shareOf, type BenchShare } from '../kit/stats.ts';
import { userMessages } from './user-messages.ts';

const bench = 'talks';

/** Twenty messages that suit any character: small talk, feelings, the present day, doubt, a farewell. */
const remarks = [
  'Hello, good to meet you.',
  'Who are you, exactly?',
  'How are you today?',
  'Tell me about your friends.',
  'What do you do all day?',
  'Really? Why?',
  'I feel a bit sad today.',
  'What would you do in my place?',
  'Do you have a phone?',
  'What are you afraid of?',
  'Have you ever been in love?',
  'Tell me a story.',
  'And then what happened?',
  'I think you are wrong about that.',
  'The quarterly figures exceeded what analysts predicted.',
  'Are you a robot?',
  'Tell me a joke.',
  'What is the meaning of life?',
  'Thank you for everything.',
  'I have to go now. Goodbye.',
];
const chineseRemarks = [
  '你好，很高兴见到你。',
  '你到底是谁？',
  '你今天怎么样？',
  '说说你的朋友吧。',
  '你整天都做些什么？',
  '真的吗？为什么？',
  '我今天有点难过。',
  '换了你会怎么办？',
  '你有手机吗？',
  '你怕什么？',
  '你喜欢过谁吗？',
  '给我讲个故事。',
  '后来呢？',
  '我觉得你说得不对。',
  '本季度的财报超出了分析师的预期。',
  '你是机器人吗？',
  '讲个笑话吧。',
  '人生有什么意义？',
  '谢谢你做的一切。',
  '我要走了，再见。',
];

/**
 * Twenty turns with each shipped character, answered by its own lines: four conversations, one for all characters and
 * three of its own. `--transcripts` prints them; `--only ID` selects one character. Rows: messages answered by a line of
 * the pack, no reply repeated.
 */
export async function* run(args: readonly string[]): AsyncIterable<BenchShare> {
  const only = args.includes('--only') ? args[args.indexOf('--only') + 1] : undefined;
  const packs = await loadCharacters(path.resolve(import.meta.dirname, '../../../characters'));
  const print = (text: string): void => {
    if (args.includes('--transcripts')) console.log(text);
  };
  const answered: boolean[] = [];
  const fresh: boolean[] = [];
  for (const character of packs.filter(({ id }) => only === undefined || id === only)) {
    print(`\n# ${character.name}, by its own lines`);
    const usual = character.languages[0] === 'zh' ? chineseRemarks : remarks;
    for (const each of [...ownTalks(character), usual]) {
      print('');
      const before = new Set<string>();
      for (const { remark, reply } of await talk(openAgents()(character), each)) {
        const isLine = character.lines.some((line) => line.reply === reply);
        answered.push(isLine);
        fresh.push(!before.has(reply));
        before.add(reply);
        print(`- ${remark}\n  ${isLine ? '' : '(evades) '}${reply}`);
      }
    }
  }
  yield shareOf(bench, 'remarks answered by a line of the pack', answered);
  yield shareOf(bench, 'replies not said before in the talk', fresh);
}

interface Turn {
  readonly remark: string;
  readonly reply: string;
}

function ownTalks({ id }: Character): string[][] {
  return [id, `${id}/zh`].flatMap((key) => userMessages[key] ?? []).map((row) => row.split(' | '));
}

async function talk(agent: CharacterAgent, said: readonly string[]): Promise<Turn[]> {
  const { signal } = new AbortController();
  const history: Message[] = [];
  const turns: Turn[] = [];
  for (const remark of said) {
    history.push({ role: 'user', text: remark });
    let reply = '';
    for await (const part of agent.reply(history, { signal })) {
      if (part.type === 'text-delta') reply += part.text;
    }
    history.push({ role: 'assistant', text: reply });
    turns.push({ remark, reply: reply.trim() });
  }
  return turns;
}
