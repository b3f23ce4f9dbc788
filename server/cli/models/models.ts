import { readCatalogue, type CatalogueModel } from '../../../voices/models/catalogue.ts';
import type { Config } from '../../config/config.ts';
import { parseCommand } from '../../terminal/commands.ts';
import { UsageError } from '../../terminal/flags.ts';

const flags = {
  again: { type: 'boolean', help: 'pull: download again even if installed' },
  json: { type: 'boolean', help: 'print JSON' },
} as const;

/** Parsed command line of `dramatis models`. */
export interface ModelsCommand {
  readonly catalogue: readonly CatalogueModel[];
  readonly config: Config;
  /** Arguments after the action. */
  readonly names: readonly string[];
  readonly again: boolean;
  readonly json: boolean;
}

const actions: Readonly<Record<string, () => Promise<(command: ModelsCommand) => Promise<number>>>> = {
  list: async () => (await import('./list.ts')).list,
  pull: async () => (await import('./pull.ts')).pull,
  verify: async () => (await import('./list.ts')).verify,
  remove: async () => (await import('./list.ts')).remove,
};

/** `dramatis models`: manages the model weights of local engines. */
export async function run(args: string[]): Promise<number> {
  const parsed = parseCommand('models', 'list | pull ID… | verify [ID…] | remove ID…', args, flags);
  if (parsed === undefined) return 0;
  const [action = '', ...names] = parsed.positionals;
  const load = Object.hasOwn(actions, action) ? actions[action] : undefined;
  if (load === undefined)
    throw new UsageError(`Choose an action: dramatis models ${Object.keys(actions).join(' | ')}.`);
  const { config, values } = parsed;
  const act = await load();
  return act({
    catalogue: readCatalogue(config.modelCatalogue),
    config,
    names,
    again: values.again === true,
    json: values.json === true,
  });
}
