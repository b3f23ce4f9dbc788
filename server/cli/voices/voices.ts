import { openVoiceStore } from '../../../voices/library/store.ts';
import { parseCommand, UsageError, type ParsedCommand } from '../../terminal/usage.ts';

const flags = {
  id: { type: 'string', value: 'ID', help: 'add: what the voice is called; by default the name of the first file' },
  consent: {
    type: 'string',
    value: 'TEXT',
    help: 'add: who allowed the voice to be cloned, and how that is known; needed once, and logged with every use',
  },
  licence: { type: 'string', value: 'TEXT', help: 'add: what the recordings may be used for' },
  language: { type: 'string', value: 'TAG', help: 'add: of the recordings, such as en or zh' },
  'min-quality': {
    type: 'string',
    value: 'MOS',
    help: 'add: DNSMOS (OVRL) of a reference at least, 1 to 5; 2.5 by default, 3 in the SpeechRole paper',
  },
  speaker: {
    type: 'string',
    value: 'N',
    help: 'add: whose voice it is, where several people speak: 1 speaks longest; “all” where there is one after all',
  },
  clips: { type: 'boolean', help: 'show: every clip, with who speaks and how well it sounds' },
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
  if (load === undefined) throw new UsageError(`Say what to do: dramatis voices ${Object.keys(actions).join(' | ')}.`);
  const store = openVoiceStore(parsed.config.dataDir);
  const act = await load();
  return act({ ...parsed, store, names, json: parsed.values.json === true });
}
