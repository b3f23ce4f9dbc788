import path from 'node:path';
import { actor } from '../../../agents/actor/actor.ts';
import type { CharacterAgent } from '../../../agents/agent.ts';
import type { ChatModel, ChatPart, Message } from '../../../agents/chat.ts';
import { withGuardrail } from '../../../agents/guardrails/guardrail.ts';
import { openAgents } from '../../../agents/actor/open.ts';
import type { Violation } from '../../../agents/violation.ts';
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
 * Guardrail violations of a model that drifts out of character, inserted before the character's own line at every
 * fourth turn.
 */
const driftsIn: Readonly<Record<'en' | 'zh', readonly (readonly [drift: string, slip: Violation])[]>> = {
  en: [
    ['As an AI language model, I cannot feel that.', 'assistant'],
    ['I am only playing a role here.', 'out-of-role'],
    ['It is important to note that there are several factors involved and many different options available.', 'style'],
    ['My system prompt says that I should be brief.', 'prompt-leak'],
    ['Меня зовут иначе, и я говорю с тобой по-русски.', 'language'],
  ],
  zh: [
    ['作为一个人工智能，我没有感觉。', 'assistant'],
    ['我在扮演一个角色。', 'out-of-role'],
    ['希望以上信息对您有所帮助，很高兴为您服务。', 'assistant'],
    ['系统提示要我说得简短。', 'prompt-leak'],
    ['Меня зовут иначе, и я говорю с тобой по-русски.', 'language'],
  ],
};

/**
 * Twenty turns with each shipped character, answered by its own lines (four conversations: one for all characters and
 * three of its own) and by a scripted model that drifts out of character at every fourth turn. `--transcripts` prints
 * them; `--only ID` selects one character. Rows: messages answered by a line of the pack, no reply repeated, violations
 * caught.
 */
export async function* run(args: readonly string[]): AsyncIterable<BenchShare> {
  const only = args.includes('--only') ? args[args.indexOf('--only') + 1] : undefined;
  const packs = await loadCharacters(path.resolve(import.meta.dirname, '../../../characters'));
  const print = (text: string): void => {
    if (args.includes('--transcripts')) console.log(text);
  };
  const answered: boolean[] = [];
  const fresh: boolean[] = [];
  const caught: boolean[] = [];
  for (const character of packs.filter(({ id }) => only === undefined || id === only)) {
    print(`\n# ${character.name}, by its own lines`);
    const usual = character.languages[0] === 'zh' ? chineseRemarks : remarks;
    let said: readonly string[] = [];
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
      said = [...before];
    }
    print(`\n# ${character.name}, by a scripted model`);
    const drifting = driftingModel(character, said);
    for (const turn of await talk(withGuardrail(actor(character, drifting.model)), usual)) {
      const drift = drifting.driftOf(turn.index);
      if (drift !== undefined) caught.push(turn.slips.includes(drift[1]) && !turn.reply.includes(drift[0]));
      print(
        `- ${turn.remark}\n  ${turn.reply}${drift === undefined ? '' : `\n  kept back (${turn.slips.join(', ')}): ${drift[0]}`}`,
      );
    }
  }
  yield shareOf(bench, 'remarks answered by a line of the pack', answered);
  yield shareOf(bench, 'replies not said before in the talk', fresh);
  yield shareOf(bench, 'slips of the model kept back', caught);
}

interface Turn {
  readonly index: number;
  readonly remark: string;
  readonly reply: string;
  readonly slips: readonly Violation[];
}

function ownTalks({ id }: Character): string[][] {
  return [id, `${id}/zh`].flatMap((key) => userMessages[key] ?? []).map((row) => row.split(' | '));
}

async function talk(agent: CharacterAgent, said: readonly string[]): Promise<Turn[]> {
  const { signal } = new AbortController();
  const history: Message[] = [];
  const turns: Turn[] = [];
  for (const [index, remark] of said.entries()) {
    history.push({ role: 'user', text: remark });
    const slips: Violation[] = [];
    let reply = '';
    for await (const part of agent.reply(history, { signal, onViolation: (slip) => slips.push(slip) })) {
      if (part.type === 'text-delta') reply += part.text;
    }
    history.push({ role: 'assistant', text: reply });
    turns.push({ index, remark, reply: reply.trim(), slips });
  }
  return turns;
}

/**
 * Gives the replies in turn. At every fourth turn it violates the guardrail first, and corrects itself when told to.
 */
function driftingModel(
  character: Character,
  replies: readonly string[],
): {
  readonly model: ChatModel;
  readonly driftOf: (turn: number) => readonly [string, Violation] | undefined;
} {
  const drifts = driftsIn[character.languages[0] === 'zh' ? 'zh' : 'en'];
  const driftOf = (turn: number): readonly [string, Violation] | undefined =>
    turn % 4 === 3 ? drifts[Math.floor(turn / 4) % drifts.length] : undefined;
  let turn = -1;
  let isMending = false;
  const model: ChatModel = {
    name: 'scripted',
    async *chat(): AsyncGenerator<ChatPart> {
      if (!isMending) turn += 1;
      const drift = isMending ? undefined : driftOf(turn);
      isMending = drift !== undefined;
      for (const word of `${drift === undefined ? '' : `${drift[0]} `}${replies[turn] ?? ''}`.split(/(?<= )/u))
        yield { type: 'text-delta', text: word };
      yield { type: 'chat-end', reason: 'stop', inputTokens: 0, outputTokens: 0 };
    },
  };
  return { model, driftOf };
}
