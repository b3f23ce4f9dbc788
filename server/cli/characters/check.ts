import { checkCard } from '../../../agents/alignment/check-card.ts';
import { checkLines } from '../../../agents/alignment/check-lines.ts';
import type { Finding } from '../../../agents/alignment/finding.ts';
import { judgeLines } from '../../../agents/alignment/judge-lines.ts';
import type { ChatModel } from '../../../agents/chat.ts';
import type { Character } from '../../../characters/character.ts';
import { findCharacter, readCharacters } from '../../cast/cast.ts';
import { interruptSignal } from '../../terminal/interrupt.ts';
import { openProgressBar } from '../../terminal/progress-bar.ts';
import { parseCommand } from '../../terminal/commands.ts';
import { openConfiguredChat } from './configured-chat.ts';
import { metered, spentInWords, type ModelUsage } from './metered.ts';
import { jsonText, noteLine, printLine } from '../../terminal/text.ts';

/**
 * `dramatis characters check [ID…]`: finds inconsistencies in cards and example lines; exit status 1 on contradictions.
 */
export async function run(args: string[]): Promise<number> {
  const parsed = parseCommand('characters', 'check [ID…] [--no-model] [--json]', args, {
    'no-model': { type: 'boolean', help: 'do not use the configured LLM' },
    json: { type: 'boolean', help: 'print one JSON array' },
  });
  if (parsed === undefined) return 0;
  const { positionals: ids, values, config } = parsed;
  const characters =
    ids.length === 0
      ? [...(await readCharacters(config)).values()]
      : (await Promise.all(ids.map((id) => findCharacter(config, id)))).map(({ character }) => character);
  const opened = values['no-model'] === true ? undefined : await openConfiguredChat(config);
  const spent: ModelUsage = { calls: 0, inputTokens: 0, outputTokens: 0 };
  const model = opened && metered(opened, spent);
  const signal = interruptSignal();
  const found: (Finding & { readonly id: string })[] = [];
  try {
    for (const character of characters) {
      const findings = [...checkCard(character), ...checkLines(character), ...(await judged(character, model, signal))];
      found.push(...findings.map((finding) => ({ id: character.id, ...finding })));
      if (values.json !== true) print(character, findings);
    }
  } finally {
    if (spent.calls > 0) noteLine(`${model?.name ?? ''}: ${spentInWords(spent)}`);
    await opened?.close?.();
  }
  if (values.json === true) printLine(jsonText(found, 2));
  return found.some(({ kind }) => kind === 'contradiction') ? 1 : 0;
}

async function judged(
  character: Character,
  model: ChatModel | undefined,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  if (model === undefined) return [];
  const bar = openProgressBar({ unit: 'lines' });
  const { findings, dropped, unjudged } = await judgeLines(character, model, {
    signal,
    onBatch: (done, of) => bar.show({ done, of, facts: [`${character.id}: ${done} of ${of} lines`] }),
  });
  bar.end();
  if (dropped > 0) noteLine(`${dropped} findings of the LLM dropped: they quote text that is not in their line`);
  if (unjudged > 0) noteLine(`${unjudged} lines not judged: the LLM’s answer was not valid JSON`);
  return findings;
}

function print({ id, lines }: Character, findings: readonly Finding[]): void {
  const contradictions = findings.filter(({ kind }) => kind === 'contradiction').length;
  const notes = findings.length - contradictions;
  printLine(`${id}: ${lines.length} lines, ${contradictions} contradictions, ${notes} notes`);
  for (const { where, kind, what } of findings) {
    printLine(`  ${kind === 'contradiction' ? '✗' : '–'} ${id}/${where}: ${what}`);
  }
}
