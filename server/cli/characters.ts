import { UsageError } from './usage.ts';

/** One module per verb. Each exports `run(args)`, which resolves to the exit status. */
const verbs: Readonly<Record<string, () => Promise<{ run(args: string[]): Promise<number> }>>> = {
  list: () => import('./characters/list.ts'),
  show: () => import('./characters/show.ts'),
  import: () => import('./characters/import.ts'),
  export: () => import('./characters/export.ts'),
  remove: () => import('./characters/remove.ts'),
  check: () => import('./characters/check.ts'),
  new: () => import('./characters/new.ts'),
};

/** `dramatis characters [VERB]`: lists, imports, exports and checks characters. */
export async function run(args: string[]): Promise<number> {
  const [verb = 'list', ...rest] = args[0]?.startsWith('-') === false ? args : ['list', ...args];
  const load = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (load === undefined)
    throw new UsageError(`There is no "characters ${verb}"; there is ${Object.keys(verbs).join(', ')}.`);
  return (await load()).run(rest);
}
