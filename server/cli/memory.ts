import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { MemoryError, type Correction, type MemoryRecord, type UserKey } from '../memory/record.ts';
import { exportOf } from '../memory/exported.ts';
import { memoryFile, MemoryStore } from '../memory/store.ts';
import { table } from '../terminal/table.ts';
import { parseCommand, UsageError } from '../terminal/usage.ts';

const flags = {
  user: { type: 'string', value: 'NAME', help: 'whose memories, by the name that their client gives' },
  key: { type: 'string', value: 'ID', help: 'of which server key, as `list` shows it; needed where two have the user' },
  'to-user': { type: 'string', value: 'NAME', help: 'move: whose they are to be; the same name unless given' },
  'to-key': { type: 'string', value: 'ID', help: 'move: of which server key; the same unless given' },
  character: { type: 'string', value: 'ID', help: 'only what this character remembers' },
  text: { type: 'string', value: 'TEXT', help: 'correct: what a fact or summary is to say' },
  asked: { type: 'string', value: 'TEXT', help: 'correct: what the user said in a turn' },
  answered: { type: 'string', value: 'TEXT', help: 'correct: what the character said in it' },
  out: { type: 'string', value: 'FILE', help: 'export: the file to write; else standard output' },
  json: { type: 'boolean', help: 'print JSON' },
} as const;

type Values = Readonly<Partial<Record<keyof typeof flags, string | boolean>>>;

interface MemoryCommand {
  readonly store: MemoryStore;
  readonly values: Values;
  readonly id: string | undefined;
}

const actions: Readonly<Record<string, (command: MemoryCommand) => void | Promise<void>>> = {
  list: (command) => (command.values.user === undefined ? listPeople(command) : listMemories(command)),
  show: ({ store, values, id }) => print(store.get(personIn(store, values), idFrom(id)), values),
  correct({ store, values, id }) {
    print(store.correct(personIn(store, values), idFrom(id), correctionIn(values)), values);
  },
  delete({ store, values, id }) {
    store.remove(personIn(store, values), idFrom(id));
    console.log(values.json === true ? JSON.stringify({ deleted: id }) : `Deleted ${id}, and what rested on it.`);
  },
  export: exportAll,
  move: moveAll,
  erase({ store, values }) {
    const count = store.erase(personIn(store, values), textOf(values.character));
    console.log(values.json === true ? JSON.stringify({ erased: count }) : `Erased ${count} memories.`);
  },
};

/** `dramatis memory`: inspects and edits the characters' memories of users, also while a server runs. */
export async function run(args: string[]): Promise<number> {
  const synopsis = 'list [--user NAME] | show ID | correct ID | delete ID | export | erase | move, with --user NAME';
  const parsed = parseCommand('memory', synopsis, args, flags);
  if (parsed === undefined) return 0;
  const [action = '', id] = parsed.positionals;
  const act = actions[action];
  if (act === undefined) throw new UsageError(`Say what to do: dramatis memory ${Object.keys(actions).join(' | ')}.`);
  const file = memoryFile(parsed.config.dataDir);
  if (!existsSync(file))
    throw new MemoryError('memory_not_found', `There are no memories in ${parsed.config.dataDir}.`);
  const store = new MemoryStore(file);
  try {
    await act({ store, values: parsed.values, id });
    return 0;
  } finally {
    store.purge();
    store.close();
  }
}

function listPeople({ store, values }: MemoryCommand): void {
  const people = store.people();
  if (values.json === true) console.log(JSON.stringify(people, undefined, 2));
  else if (people.length === 0) console.log('Nobody is remembered.');
  else {
    const rows = people.map(({ user, owner, character, turns, facts, lastAt }) =>
      [user, owner, character, turns, facts, lastAt.slice(0, 16)].map(String),
    );
    console.log(table(['user', 'key', 'character', 'turns', 'facts', 'last'], rows));
  }
}

function listMemories({ store, values }: MemoryCommand): void {
  const memories = store.list(personIn(store, values), { character: textOf(values.character) });
  if (values.json === true) console.log(JSON.stringify(memories, undefined, 2));
  else if (memories.length === 0) console.log('Nothing is remembered.');
  else console.log(table(['id', 'when', 'character', 'what'], memories.map(rowOf)));
}

function rowOf(memory: MemoryRecord): string[] {
  const { id, at, character } = memory;
  const what = memory.kind === 'turn' ? `“${memory.asked}” “${memory.answered}”` : memory.text;
  return [id, at.slice(0, 16), character, what.replaceAll('\n', ' ')];
}

function print(memory: MemoryRecord, values: Values): void {
  if (values.json === true) console.log(JSON.stringify(memory, undefined, 2));
  else for (const [name, value] of Object.entries(memory)) console.log(`${name.padEnd(11)}${value ?? ''}`);
}

async function exportAll({ store, values }: MemoryCommand): Promise<void> {
  const person = personIn(store, values);
  const head = { user: person.user, exported_at: new Date().toISOString() };
  const pieces = exportOf(head, (last) => store.page(person, textOf(values.character), last));
  const out = textOf(values.out);
  if (out === '') for await (const piece of pieces) process.stdout.write(piece);
  else {
    await writeFile(out, pieces, { mode: 0o600 });
    console.log(`Wrote what is remembered of ${person.user} to ${out}.`);
  }
}

/** Moves one user to another name or key; without a name, all users of a key, for example after a key change. */
function moveAll({ store, values }: MemoryCommand): void {
  const [toUser, toKey] = [textOf(values['to-user']), textOf(values['to-key'])];
  const hasUser = textOf(values.user) !== '';
  if ((toUser === '' && toKey === '') || (!hasUser && (toUser !== '' || typeof values.key !== 'string')))
    throw new UsageError(
      'Say what is moved where: --user NAME with --to-user NAME or --to-key ID, or all users of a key with --key ID --to-key ID.',
    );
  const from = hasUser ? personIn(store, values) : { owner: textOf(values.key) };
  const owner = toKey === '' ? from.owner : toKey;
  const count = store.move(from, 'user' in from ? { owner, user: toUser === '' ? from.user : toUser } : { owner });
  console.log(values.json === true ? JSON.stringify({ moved: count }) : `Moved ${count} memories.`);
}

/** Resolves the named user; if two keys have a user of that name, `--key` decides. */
function personIn(store: MemoryStore, values: Values): UserKey {
  const user = textOf(values.user);
  if (user === '') throw new UsageError('--user is needed. `dramatis memory list` lists who is remembered.');
  const owners = [
    ...new Set(
      store
        .people()
        .filter((one) => one.user === user)
        .map(({ owner }) => owner),
    ),
  ];
  const wanted = typeof values.key === 'string' ? owners.filter((owner) => owner === values.key) : owners;
  const [owner, other] = wanted;
  if (owner === undefined) throw new MemoryError('memory_not_found', `Nobody called "${user}" is remembered.`);
  if (other !== undefined)
    throw new UsageError(`Two keys have a user "${user}": choose with --key ${owners.join(' or ')}.`);
  return { owner, user };
}

function correctionIn({ text, asked, answered }: Values): Correction {
  if (typeof text === 'string' && text.trim() !== '') return { text: text.trim() };
  const parts = Object.entries({ asked, answered }).filter(
    ([, part]) => typeof part === 'string' && part.trim() !== '',
  );
  if (parts.length === 0) throw new UsageError('Say what is right: --text, or --asked and --answered of a turn.');
  return Object.fromEntries(parts);
}

function idFrom(id: string | undefined): string {
  if (id !== undefined) return id;
  throw new UsageError('Name a memory. `dramatis memory list --user NAME` lists them.');
}

function textOf(value: string | boolean | undefined): string {
  return typeof value === 'string' ? value : '';
}
