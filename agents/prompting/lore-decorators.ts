/** Settings in the decorator lines of a lore entry (Character Card V3 §Decorators), as far as supported here. */
export interface Decorators {
  /** Triggers only after this many replies of the character. */
  readonly activateOnlyAfter?: number;
  /** Triggers only in each n-th reply. */
  readonly activateOnlyEvery?: number;
  /** After its first trigger the entry stays active, or never triggers again. */
  readonly afterMatch?: 'keep' | 'rest';
  readonly scanDepth?: number;
  readonly additionalKeys?: readonly string[];
  readonly excludeKeys?: readonly string[];
  readonly activate?: boolean;
}

const line = /^@@(@*)\s*([a-z_]+)\s*(.*)$/u;

/**
 * Splits an entry's content into decorators and text. An unknown decorator is replaced by its fallback, the line with
 * one more `@` that follows it, or dropped if there is none, as the specification asks. Placement (`depth`, `role`,
 * `position`) is decided only by our prompt: triggered entries are in the notes before the last user message.
 */
export function decoratorsOf(content: string): { readonly decorators: Decorators; readonly content: string } {
  const lines = content.split('\n');
  let decorators: Decorators = {};
  let at = 0;
  // A decorator that was understood makes its fallbacks irrelevant.
  let settled = false;
  for (; at < lines.length; at += 1) {
    const match = line.exec((lines[at] ?? '').trim());
    if (match === null) break;
    const [, more = '', name = '', value = ''] = match;
    if (more !== '' && settled) continue;
    const read = readDecorator(name, value.trim());
    settled = read !== undefined;
    decorators = { ...decorators, ...read };
  }
  return { decorators, content: lines.slice(at).join('\n').trim() };
}

/** True if an entry may trigger in the reply after this many others. */
export function isDue({ activateOnlyAfter = 0, activateOnlyEvery = 1 }: Decorators, replies: number): boolean {
  return replies >= activateOnlyAfter && (replies + 1) % Math.max(1, activateOnlyEvery) === 0;
}

const placement = new Set(
  'depth instruct_depth reverse_depth reverse_instruct_depth role position ignore_on_max_context disable_ui_prompt'.split(
    ' ',
  ),
);

type Reader = (count: number | undefined, keys: readonly string[]) => Decorators | undefined;

const readers: Readonly<Record<string, Reader>> = {
  activate_only_after: (count) => (count === undefined ? undefined : { activateOnlyAfter: count }),
  activate_only_every: (count) => (count === undefined ? undefined : { activateOnlyEvery: count }),
  keep_activate_after_match: () => ({ afterMatch: 'keep' }),
  dont_activate_after_match: () => ({ afterMatch: 'rest' }),
  scan_depth: (count) => (count === undefined ? undefined : { scanDepth: count }),
  additional_keys: (_, keys) => ({ additionalKeys: keys }),
  exclude_keys: (_, keys) => ({ excludeKeys: keys }),
  activate: () => ({ activate: true }),
  dont_activate: () => ({ activateOnlyAfter: Number.POSITIVE_INFINITY }),
};

/** Returns undefined for an unknown decorator. */
function readDecorator(name: string, value: string): Decorators | undefined {
  if (placement.has(name)) return {};
  const count = /^\d{1,6}$/.test(value) ? Number(value) : undefined;
  const keys = value.split(',').map((key) => key.trim());
  return Object.hasOwn(readers, name) ? readers[name]?.(count, keys.filter(Boolean)) : undefined;
}
