import { writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { MemoryError, type Correction, type MemoryRecord, type UserKey } from '../memory/store/record.ts';
import { exportOf } from '../memory/store/exported.ts';
import type { AsyncStore } from '../memory/store/operations.ts';
import { copyAll, migrateAll, openMemoryStore, sealExisting } from './memory-database.ts';
import { parseCommand } from '../terminal/commands.ts';
import { requirePlaceFor, textFlag, UsageError } from '../terminal/flags.ts';
import { table } from '../terminal/table.ts';
import { jsonText, printable, printableJson, printLine } from '../terminal/text.ts';

const flags = {
  user: { type: 'string', value: 'NAME', help: 'user, by the name that the client gives' },
  key: {
    type: 'string',
    value: 'ID',
    help: 'server key of the user, as shown by `list`; required if two keys have this user',
  },
  'to-user': { type: 'string', value: 'NAME', help: 'move: new user name (default: unchanged)' },
  'to-key': { type: 'string', value: 'ID', help: 'move: new server key (default: unchanged)' },
  character: { type: 'string', value: 'ID', help: 'only memories of this character' },
  text: { type: 'string', value: 'TEXT', help: 'correct: new text of a fact or summary' },
  asked: { type: 'string', value: 'TEXT', help: 'correct: what the user said in a turn' },
  answered: { type: 'string', value: 'TEXT', help: 'correct: what the character said in that turn' },
  out: { type: 'string', value: 'FILE', help: 'export: file to write (default: standard output)' },
  to: { type: 'string', value: 'WHERE', help: 'copy: target, postgres (of DRAMATIS_POSTGRES_URL) or file' },
  yes: { type: 'boolean', help: 'erase: do not ask for confirmation' },
  json: { type: 'boolean', help: 'print JSON' },
} as const;

type Values = Readonly<Partial<Record<keyof typeof flags, string | boolean>>>;

interface MemoryCommand {
  readonly store: AsyncStore;
  readonly values: Values;
  readonly id: string | undefined;
}

const actions: Readonly<Record<string, (command: MemoryCommand) => Promise<void>>> = {
  list: (command) => (command.values.user === undefined ? listPeople(command) : listMemories(command)),
  async show({ store, values, id }) {
    print(await store.get(await personIn(store, values), idFrom(id)), values);
  },
  async correct({ store, values, id }) {
    print(await store.correct(await personIn(store, values), idFrom(id), correctionIn(values)), values);
  },
  async delete({ store, values, id }) {
    await store.remove(await personIn(store, values), idFrom(id));
    printLine(values.json === true ? jsonText({ deleted: id }) : `Deleted ${id} and everything derived from it.`);
  },
  export: exportAll,
  move: moveAll,
  erase,
};

/** `dramatis memory`: inspects and edits the characters' memories of users, also while a server runs. */
export async function run(args: string[]): Promise<number> {
  const synopsis =
    'list [--user NAME] | show ID | correct ID | delete ID | export | erase | move, with --user NAME | copy --to postgres | migrate | seal';
  const parsed = parseCommand('memory', synopsis, args, flags);
  if (parsed === undefined) return 0;
  const [action = '', id] = parsed.positionals;
  const { config, values } = parsed;
  const isJson = values.json === true;
  if (action === 'copy') return copyAll(config, textFlag(values.to), isJson);
  if (action === 'migrate') return migrateAll(config, isJson);
  if (action === 'seal') return sealExisting(config, isJson);
  const act = actions[action];
  const all = [...Object.keys(actions), 'copy', 'migrate', 'seal'];
  if (act === undefined) throw new UsageError(`Choose an action: dramatis memory ${all.join(' | ')}.`);
  const store = await openMemoryStore(config);
  try {
    await act({ store, values, id });
    return 0;
  } finally {
    await store.close();
  }
}

async function listPeople({ store, values }: MemoryCommand): Promise<void> {
  const people = await store.people();
  if (values.json === true) printLine(jsonText(people, 2));
  else if (people.length === 0) printLine('There are no memories.');
  else {
    const rows = people.map(({ user, owner, character, turns, facts, lastAt }) =>
      [user, owner, character, turns, facts, lastAt.slice(0, 16)].map(String),
    );
    printLine(table(['user', 'key', 'character', 'turns', 'facts', 'last'], rows));
  }
}

async function listMemories({ store, values }: MemoryCommand): Promise<void> {
  const character = textFlag(values.character);
  const memories = await store.list(await personIn(store, values), character === undefined ? {} : { character });
  if (values.json === true) printLine(jsonText(memories, 2));
  else if (memories.length === 0) printLine('There are no memories of this user.');
  else printLine(table(['id', 'when', 'character', 'what'], memories.map(rowOf)));
}

function rowOf(memory: MemoryRecord): string[] {
  const { id, at, character } = memory;
  const what = memory.kind === 'turn' ? `“${memory.asked}” “${memory.answered}”` : memory.text;
  return [id, at.slice(0, 16), character, what.replaceAll('\n', ' ')];
}

function print(memory: MemoryRecord, values: Values): void {
  if (values.json === true) printLine(jsonText(memory, 2));
  else for (const [name, value] of Object.entries(memory)) printLine(`${name.padEnd(11)}${value ?? ''}`);
}

async function exportAll({ store, values }: MemoryCommand): Promise<void> {
  const person = await personIn(store, values);
  const head = { user: person.user, exported_at: new Date().toISOString() };
  const pieces = exportOf(head, (last) => store.page(person, textFlag(values.character), last));
  const out = textFlag(values.out);
  if (out !== undefined) requirePlaceFor(out);
  if (out === undefined || out === '-') for await (const piece of pieces) process.stdout.write(printableJson(piece));
  else {
    await writeFile(out, pieces, { mode: 0o600 });
    printLine(`Exported the memories of ${person.user} to ${out}.`);
  }
}

/** Cannot be undone, so it asks; where nobody can answer, `--yes` is required. */
async function erase({ store, values }: MemoryCommand): Promise<void> {
  const person = await personIn(store, values);
  const character = textFlag(values.character);
  const whose = `of ${person.user}${character === undefined ? '' : ` with ${character}`}`;
  if (values.yes !== true) {
    if (!process.stdin.isTTY) throw new UsageError(`To erase all memories ${whose}, add --yes.`);
    const question = createInterface({ input: process.stdin, output: process.stderr });
    const answer = await question.question(printable(`Erase all memories ${whose}? They cannot be restored. [y/N] `));
    question.close();
    if (!/^y(es)?$/i.test(answer.trim())) return printLine('Nothing was erased.');
  }
  const count = await store.erase(person, character);
  printLine(values.json === true ? jsonText({ erased: count }) : `Erased ${count} memories.`);
}

/** Moves one user to another name or key; without a name, all users of a key, for example after a key change. */
async function moveAll({ store, values }: MemoryCommand): Promise<void> {
  const user = textFlag(values.user);
  // Users of a server without keys have the empty key.
  const { key } = values;
  const [toUser, toKey] = [textFlag(values['to-user']), textFlag(values['to-key'])];
  const movesUser = user !== undefined && (toUser ?? toKey) !== undefined;
  const movesKey = user === undefined && typeof key === 'string' && toUser === undefined && toKey !== undefined;
  if (!movesUser && !movesKey)
    throw new UsageError(
      'To move one user, give --user NAME with --to-user NAME or --to-key ID; to move all users of a key, --key ID with --to-key ID.',
    );
  const from = movesUser ? await personIn(store, values) : { owner: String(key) };
  const owner = toKey ?? from.owner;
  const count = await store.move(from, 'user' in from ? { owner, user: toUser ?? from.user } : { owner });
  printLine(values.json === true ? jsonText({ moved: count }) : `Moved ${count} memories.`);
}

/** Resolves the named user; if two keys have a user of that name, `--key` decides. */
async function personIn(store: AsyncStore, values: Values): Promise<UserKey> {
  const user = textFlag(values.user);
  if (user === undefined) throw new UsageError('--user is required. `dramatis memory list` lists the users.');
  const owners = [...new Set((await store.people()).filter((one) => one.user === user).map(({ owner }) => owner))];
  const wanted = typeof values.key === 'string' ? owners.filter((owner) => owner === values.key) : owners;
  const [owner, other] = wanted;
  if (owner === undefined) throw new MemoryError('memory_not_found', `There are no memories of a user "${user}".`);
  if (other !== undefined)
    throw new UsageError(`Two keys have a user "${user}": choose with --key ${owners.join(' or ')}.`);
  return { owner, user };
}

function correctionIn(values: Values): Correction {
  const text = textFlag(values.text)?.trim();
  if (text !== undefined) return { text };
  const [asked, answered] = [textFlag(values.asked)?.trim(), textFlag(values.answered)?.trim()];
  if (asked === undefined && answered === undefined)
    throw new UsageError('Give the correction: --text, or --asked and --answered of a turn.');
  return { ...(asked !== undefined && { asked }), ...(answered !== undefined && { answered }) };
}

function idFrom(id: string | undefined): string {
  if (id !== undefined) return id;
  throw new UsageError('Name a memory. `dramatis memory list --user NAME` lists them.');
}
