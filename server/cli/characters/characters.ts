import { UsageError } from '../../terminal/flags.ts';

/** One module per verb. Each exports `run(args)`, which resolves to the exit status. */
const verbs: Readonly<Record<string, () => Promise<{ run(args: string[]): Promise<number> }>>> = {
  list: () => import('./list.ts'),
  show: () => import('./show.ts'),
  import: () => import('./import.ts'),
  export: () => import('./export.ts'),
  remove: () => import('./remove.ts'),
  check: () => import('./check.ts'),
  new: () => import('./new.ts'),
};

/** `dramatis characters [VERB]`: lists, imports, exports and checks characters. */
export async function run(args: string[]): Promise<number> {
  const [verb = 'list', ...rest] = args[0]?.startsWith('-') === false ? args : ['list', ...args];
  const load = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (load === undefined)
    throw new UsageError(
      `There is no command "characters ${verb}". The commands are: ${Object.keys(verbs).join(', ')}.`,
    );
  return (await load()).run(rest);
}
