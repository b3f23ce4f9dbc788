import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { openAgents } from '../../../agents/actor/open.ts';
import type { Message } from '../../../agents/chat.ts';
import { loadCharacters, type Character } from '../../../characters/character.ts';
import { shareOf, type BenchShare } from '../kit/stats.ts';

const bench = 'default-mind';

/** Newcomers' turns of one conversation, in this order: by language (`en`, `zh`), or by the character's `id`. */
type Turns = Readonly<Record<string, readonly string[]>>;

/**
 * Twenty ordinary turns of a newcomer with each shipped character, answered without an LLM; prints the transcripts in
 * Markdown, to be read by hand (`default-mind-held-out.md`). `--held-out` takes the turns that were not used for development; `--only ID` selects one
 * character; `--characters FOLDER` talks to other packs. Row: replies not said before in the conversation.
 */
export async function* run(args: readonly string[]): AsyncIterable<BenchShare> {
  const valueOf = (flag: string): string | undefined =>
    args.includes(flag) ? args[args.indexOf(flag) + 1] : undefined;
  const only = valueOf('--only');
  const packs = await loadCharacters(
    valueOf('--characters') ?? path.resolve(import.meta.dirname, '../../../characters'),
  );
  const file = path.join(import.meta.dirname, 'default-mind-turns.json');
  const written = JSON.parse(await readFile(file, 'utf8')) as Record<'development' | 'heldOut', readonly Turns[]>;
  const talks = args.includes('--held-out') ? written.heldOut : written.development;
  const fresh: boolean[] = [];
  const cast = packs.filter(({ id }) => only === undefined || id === only);
  for (const [character, turns] of cast.flatMap((each) => talks.map((one) => [each, one] as const))) {
    const said = turns[character.id] ?? turns[character.languages[0] ?? 'en'] ?? [];
    const replies = await talk(character, said);
    fresh.push(...replies.map((reply, index) => replies.indexOf(reply) === index));
    const rows = replies.map((reply, index) => `| ${index + 1} | ${said[index] ?? ''} | ${reply} |`);
    console.log(`### ${character.name}\n\n| | you | ${character.name} |\n|---|---|---|\n${rows.join('\n')}\n`);
  }
  yield shareOf(bench, 'replies not said before in the talk', fresh);
}

/** Replies to these turns, after the character's first greeting. */
async function talk(character: Character, said: readonly string[]): Promise<string[]> {
  const agent = openAgents()(character);
  const { signal } = new AbortController();
  const history: Message[] = [{ role: 'assistant', text: character.greetings[0] ?? '' }];
  const replies: string[] = [];
  for (const text of said) {
    history.push({ role: 'user', text });
    let reply = '';
    for await (const part of agent.reply(history, { signal })) if (part.type === 'text-delta') reply += part.text;
    history.push({ role: 'assistant', text: reply });
    replies.push(reply.trim());
  }
  return replies;
}
