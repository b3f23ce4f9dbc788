import type { DialoguePair } from '../card.ts';
import type { TavernData } from './card-file.ts';
import { plainMacros } from './macros.ts';
import { aloudOf } from './plain-text.ts';

/** One message of an example dialogue. */
interface Said {
  readonly byUser: boolean;
  readonly text: string;
}

const longestReply = 320;
const longestAsk = 400;

/**
 * Extracts the exchanges of `mes_example`: blocks begin with `<START>`, messages with `{{user}}:` or `{{char}}:`. An
 * exchange is a user message and the answer that follows; only speech counts.
 */
export function exchangesOf(data: Pick<TavernData, 'name' | 'nickname' | 'mes_example'>): DialoguePair[] {
  const names = [data.name, data.nickname ?? ''].map((name) => name.trim()).filter((name) => name !== '');
  return data.mes_example.split(/<START>/iu).flatMap((block) => pairsOf(messagesOf(block, names), names[0] ?? ''));
}

function messagesOf(block: string, names: readonly string[]): Said[] {
  const speakers = ['{{user}}', '{{char}}', '<user>', '<bot>', 'user', 'you', ...names];
  const pattern = new RegExp(`^\\s*(${speakers.map((name) => RegExp.escape(name)).join('|')})\\s*[:：]`, 'iu');
  const messages: Said[] = [];
  for (const line of block.split('\n')) {
    const speaker = pattern.exec(line);
    if (speaker !== null) {
      const byUser = /^(?:\{\{user\}\}|<user>|user|you)$/iu.test(speaker[1] ?? '');
      messages.push({ byUser, text: line.slice(speaker[0].length) });
    } else if (messages.length > 0) {
      const last = messages.pop();
      if (last !== undefined) messages.push({ ...last, text: `${last.text}\n${line}` });
    }
  }
  return messages;
}

function pairsOf(messages: readonly Said[], name: string): DialoguePair[] {
  const say = (text: string, longest: number): string =>
    aloudOf(plainMacros(text, { char: name, user: 'my friend' }), longest);
  return messages.flatMap((message, index) => {
    const before = messages[index - 1];
    if (message.byUser || before?.byUser !== true) return [];
    const [ask, reply] = [say(before.text, longestAsk), say(message.text, longestReply)];
    return ask === '' || reply === '' ? [] : [{ asks: [ask], reply }];
  });
}
