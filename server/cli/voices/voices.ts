import { openVoiceStore } from '../../../voices/library/store.ts';
import { parseCommand, type ParsedCommand } from '../../terminal/commands.ts';
import { UsageError } from '../../terminal/flags.ts';

const flags = {
  id: { type: 'string', value: 'ID', help: 'add: id of the voice (default: name of the first file)' },
  consent: {
    type: 'string',
    value: 'TEXT',
    help: 'add: who allowed the cloning, and the evidence for it; required once, logged with every use',
  },
  licence: { type: 'string', value: 'TEXT', help: 'add: licence of the recordings' },
  language: { type: 'string', value: 'TAG', help: 'add: language of the recordings, such as en or zh' },
  'min-quality': {
    type: 'string',
    value: 'MOS',
    help: 'add: lowest DNSMOS (OVRL) of a reference clip, 1 to 5 (default 2.5; the SpeechRole paper uses 3)',
  },
  speaker: {
    type: 'string',
    value: 'N',
    help: 'add: speaker to use if several are found; 1 speaks longest; all if they are the same person',
  },
  clips: { type: 'boolean', help: 'show: also list every clip with speaker and quality' },
  json: { type: 'boolean', help: 'print JSON' },
} as const;

/** Parsed command line of `dramatis voices`. */
export type VoicesCommand = ParsedCommand<keyof typeof flags> & {
  readonly store: ReturnType<typeof openVoiceStore>;
  /** Arguments after the action. */
  readonly names: readonly string[];
  readonly json: boolean;
};

const actions: Readonly<Record<string, () => Promise<(command: VoicesCommand) => Promise<number>>>> = {
  add: async () => (await import('./add.ts')).add,
  list: async () => (await import('./show.ts')).list,
  show: async () => (await import('./show.ts')).show,
  play: async () => (await import('./play.ts')).play,
  remove: async () => (await import('./show.ts')).remove,
  compare: async () => (await import('./compare.ts')).compare,
};

/** `dramatis voices`: manages the voices for cloning. */
export async function run(args: string[]): Promise<number> {
  const parsed = parseCommand(
    'voices',
    'add FILE|FOLDER… | list | show ID [--clips] | play ID | remove ID | compare A B',
    args,
    flags,
  );
  if (parsed === undefined) return 0;
  const [action = '', ...names] = parsed.positionals;
  const load = Object.hasOwn(actions, action) ? actions[action] : undefined;
  if (load === undefined)
    throw new UsageError(`Choose an action: dramatis voices ${Object.keys(actions).join(' | ')}.`);
  const store = openVoiceStore(parsed.config.dataDir);
  const act = await load();
  return act({ ...parsed, store, names, json: parsed.values.json === true });
}
