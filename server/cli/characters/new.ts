import { checkCard } from '../../../agents/alignment/check-card.ts';
import { checkLines } from '../../../agents/alignment/check-lines.ts';
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import type { ChatModel } from '../../../agents/chat.ts';
import { bookText, type BookText } from '../../../agents/drafting/book-text.ts';
import { draftCard, type DraftedPack } from '../../../agents/drafting/draft-card.ts';
import { mainCharacterOf } from '../../../agents/drafting/main-character.ts';
import { passagesOf } from '../../../agents/drafting/passages.ts';
import { readPassages, type PlacedStatement, type Read } from '../../../agents/drafting/read-passages.ts';
import { estimateTokens } from '../../../agents/llm/token-estimate.ts';
import { CharacterError } from '../../../characters/character-error.ts';
import { writePack } from '../../../characters/pack-folder.ts';
import { slugOf } from '../../../characters/slug.ts';
import { writeFileAtomic } from '../../../voices/runtime/files.ts';
import { importedCharacters } from '../../cast/cast.ts';
import { makeDataDir } from '../../config/data-dir.ts';
import { interruptSignal } from '../../terminal/interrupt.ts';
import { parseCommand } from '../../terminal/commands.ts';
import { requireFlag, UsageError } from '../../terminal/flags.ts';
import { noteLine, printLine } from '../../terminal/text.ts';
import { openProgressBar, type ProgressBar } from '../../terminal/progress-bar.ts';
import { openConfiguredChat } from './configured-chat.ts';
import { metered, spentInWords, type ModelUsage } from './metered.ts';
import { shadowingNotes } from './shadowing-notes.ts';
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { statementSchema, type PassageResult } from '../../../agents/drafting/statements.ts';

const mostBytes = 32 * 2 ** 20;

/** Tokens per call besides the passage: instruction and answer. */
const tokensBeside = 650;

/** `dramatis characters new --text FILE`: drafts a card from a book or an article with the configured chat model. */
export async function run(args: string[]): Promise<number> {
  const parsed = parseCommand('characters', 'new --text FILE [--name NAME] [--id ID] [--out DIR] [--replace]', args, {
    text: { type: 'string', value: 'FILE', help: 'book or article: plain text in UTF-8' },
    name: {
      type: 'string',
      value: 'NAME',
      help: 'name of the character as written in the text (default: the LLM chooses the main character)',
    },
    id: { type: 'string', value: 'ID', help: 'id of the character (default: from the name)' },
    out: {
      type: 'string',
      value: 'DIR',
      help: 'folder to write the pack to (default: the folder of imported characters)',
    },
    replace: { type: 'boolean', help: 'overwrite an existing character with that id' },
  });
  if (parsed === undefined) return 0;
  const { values, config } = parsed;
  const file = requireFlag(values.text, 'text');
  if (typeof values.id === 'string' && slugOf(values.id) !== values.id)
    throw new UsageError('--id must be lower-case words joined by hyphens.');
  const model = await openConfiguredChat(config);
  if (model === undefined)
    throw new UsageError('Drafting needs an LLM: set DRAMATIS_LLM_BASE_URL and DRAMATIS_LLM_MODEL, or --llm.');
  const spent: ModelUsage = { calls: 0, inputTokens: 0, outputTokens: 0 };
  try {
    const book = bookText(await readTextFile(file));
    const parent = typeof values.out === 'string' ? values.out : importedCharacters(config);
    const draft: Draft = { book, parent, model: metered(model, spent), signal: interruptSignal() };
    const name = typeof values.name === 'string' ? values.name : await nameOf(draft);
    const id = typeof values.id === 'string' ? values.id : slugOf(name);
    const replace = values.replace === true;
    // Fails now rather than after an hour of reading.
    if (values.out === undefined) makeDataDir(parent);
    else makeDataDir(parent, '--out');
    if (!replace && existsSync(path.join(parent, id)))
      throw new CharacterError(
        `${path.join(parent, id)}: a character with this id exists; use --replace, or another --id`,
      );
    const made = await make({ ...draft, name, id, work: book.title ?? path.parse(file).name, replace });
    tell(made, values.out === undefined ? shadowingNotes(config, id) : []);
    return 0;
  } finally {
    if (spent.calls > 0) printLine(`${model.name}: ${spentInWords(spent)}`);
    await model.close?.();
  }
}

interface Draft {
  readonly book: BookText;
  readonly parent: string;
  readonly model: ChatModel;
  readonly signal: AbortSignal;
}

async function readTextFile(file: string): Promise<string> {
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw new CharacterError(`${file}: cannot be read`, { cause });
  });
  if (bytes.length > mostBytes) throw new CharacterError(`${file}: is larger than 32 MiB; use a part of it`);
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes).replaceAll('\r\n', '\n');
    if (text.trim() !== '') return text;
  } catch (cause) {
    throw new CharacterError(`${file}: is not UTF-8 text; convert it first`, { cause });
  }
  throw new CharacterError(`${file}: is empty`);
}

async function nameOf({ book, model, signal }: Draft): Promise<string> {
  const name = await mainCharacterOf(book.text, model, { signal });
  if (name !== undefined) return name;
  throw new CharacterError('The LLM named a character that is not in the text. Give the name with --name.');
}

interface Made extends DraftedPack {
  readonly folder: string;
  readonly read: Read;
}

async function make(
  draft: Draft & { readonly name: string; readonly id: string; readonly work: string; readonly replace: boolean },
): Promise<Made> {
  const { book, parent, model, signal, name, id, work, replace } = draft;
  const store = openDraftStore(parent, [book.text, name, model.name]);
  const passages = passagesOf(book.text);
  const tokens = estimateTokens(book.text) + tokensBeside * passages.length;
  const pieces = passages.length === 1 ? 'one passage' : `${passages.length} passages`;
  noteLine(`${name}, ${work}: ${pieces}, about ${tokens.toLocaleString('en')} tokens to read`);
  let bar: ProgressBar | undefined;
  try {
    const read = await readPassages(passages, {
      name,
      model,
      store,
      signal,
      onPassage(done, of, already) {
        bar ??= openProgressBar({ unit: 'passages', already });
        bar.show({ done, of, facts: [`${done} of ${of} passages`] });
      },
      onWait: (seconds) => noteLine(`the LLM server is busy; retrying in ${seconds} s`),
    });
    bar?.end();
    const drafted = await draftCard({ name, work, author: book.author, text: book.text }, read.statements, model, {
      signal,
    });
    const pack = { ...drafted, card: { ...drafted.card, id } };
    const files = new Map([['evidence.jsonl', Buffer.from(evidenceOf(read.statements, drafted))]]);
    const folder = await writePack(parent, { ...pack, files }, replace);
    // Keeps the store if passages are unread, so that the next run can try them again.
    if (read.unread.length === 0) await store.remove();
    return { ...pack, folder, read };
  } catch (fault) {
    bar?.end();
    noteLine(`Progress is saved: run the same command with --name "${name}" to continue.`);
    throw fault;
  }
}

/**
 * Formats the evidence as JSON lines: each statement with its source passage, then each text derived from statements,
 * with their row numbers.
 */
function evidenceOf(statements: readonly PlacedStatement[], { written }: DraftedPack): string {
  const together = written.map(({ field, text, from }) => ({ field, text, rows: from.map((place) => place + 1) }));
  return [...statements, ...together].map((row) => `${JSON.stringify(row)}\n`).join('');
}

function tell({ card, lines, problems, folder, read }: Made, places: readonly string[]): void {
  const { statements, dropped, unread } = read;
  const notes = [
    ...places,
    ...(unread.length === 0
      ? []
      : [`${unread.length} passages failed (${unread.join(', ')}); retry them with the same command and --replace`]),
    ...problems.map(({ where, what }) => `${where}: ${what}`),
  ];
  const findings = [...checkCard({ ...card, lines }), ...checkLines({ ...card, lines })];
  const said = [
    `${card.name} drafted as ${card.id}: ${statements.length} statements, each with its passage in assets/evidence.jsonl`,
    `  ${lines.length} example lines; ${dropped} statements dropped because their quotes are not in the text`,
    ...notes.map((note) => `  note: ${note}`),
    ...findings.map(({ where, kind, what }) => `  ${kind}: ${card.id}/${where}: ${what}`),
    `Review ${path.join(folder, 'card.json')} before you use it.`,
  ];
  printLine(said.join('\n'));
}

const stored = z.object({
  statements: z.array(statementSchema),
  dropped: z.number().int(),
});

/** Results of the passages read so far, on disk, so that a stopped draft can be resumed. */
interface DraftStore {
  read(index: number): Promise<PassageResult | undefined>;
  write(index: number, result: PassageResult): Promise<void>;
  remove(): Promise<void>;
}

/** Opens the store for one text, name and model: nothing is reused if any of them changes. */
function openDraftStore(parent: string, about: readonly string[]): DraftStore {
  const key = createHash('sha256').update(JSON.stringify(about)).digest('hex').slice(0, 16);
  const folder = path.join(parent, `.draft-${key}`);
  const fileOf = (index: number): string => path.join(folder, `${index}.json`);
  return {
    async read(index) {
      try {
        return stored.parse(JSON.parse(await readFile(fileOf(index), 'utf8')));
      } catch {
        // Missing, or half written by a killed process: the passage is read again.
        return undefined;
      }
    },
    write: (index, result) => writeFileAtomic(fileOf(index), JSON.stringify(result), 0o600),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
