/** Values of `{{char}}` and `{{user}}`. */
export interface MacroNames {
  readonly char: string;
  readonly user: string;
}

/** Random source of macros. */
export interface MacroLot {
  /** At least 0, below 1; called for each `{{random}}` and `{{roll}}`. */
  random(): number;
  /** At least 0, below 1; the same for the same text within a conversation: for `{{pick}}`. */
  pick(text: string): number;
}

const macro = /\{\{([^{}]{0,2000})\}\}|<(user|bot|char)>/giu;
const deepestNesting = 4;

/**
 * Fills in the macros of the Character Card V3 specification (§Curly Braced Syntaxes): `char`, `user`, `random`,
 * `pick`, `roll`, `reverse`, and the silent `//`, `comment` and `hidden_key`. Macros of other programs stay unchanged.
 * Macros in the result are filled in as well, a few levels deep.
 */
export function fillMacros(text: string, names: MacroNames, lot: MacroLot): string {
  let filled = text;
  for (let depth = 0; depth < deepestNesting; depth += 1) {
    const next = filled.replaceAll(macro, (whole: string, inside?: string, tag?: string) =>
      inside === undefined ? nameOf(tag ?? '', names) : (valueOf(inside, names, lot) ?? whole),
    );
    if (next === filled) return next;
    filled = next;
  }
  return filled;
}

/** Deterministic variant: the first choice, the lowest roll of a die. */
export function plainMacros(text: string, names: MacroNames): string {
  return fillMacros(text, names, { random: () => 0, pick: () => 0 });
}

function nameOf(tag: string, names: MacroNames): string {
  return tag.toLowerCase() === 'user' ? names.user : names.char;
}

function valueOf(inside: string, names: MacroNames, lot: MacroLot): string | undefined {
  const trimmed = inside.trim();
  const word = trimmed.toLowerCase();
  if (word === 'char') return names.char;
  if (word === 'user') return names.user;
  if (trimmed.startsWith('//')) return '';
  const parts = /^(\w+)\s*:{1,2}\s*(.*)$/su.exec(trimmed);
  const [, name = '', value = ''] = parts ?? [];
  switch (name.toLowerCase()) {
    case 'comment':
    case 'hidden_key':
      return '';
    case 'random':
      return chosen(value, lot.random());
    case 'pick':
      return chosen(value, lot.pick(value));
    case 'roll':
      return rolled(value, lot.random());
    case 'reverse':
      return [...new Intl.Segmenter().segment(value)]
        .map((piece) => piece.segment)
        .toReversed()
        .join('');
    default:
      return undefined;
  }
}

/** Choices are separated by commas, or by `::` if there is one; `\,` is a comma. */
function chosen(value: string, share: number): string {
  const separator = value.includes('::') ? '::' : /(?<!\\),/;
  const choices = value.split(separator).map((choice) => choice.replaceAll(String.raw`\,`, ',').trim());
  return choices[Math.min(choices.length - 1, Math.floor(share * choices.length))] ?? '';
}

function rolled(value: string, share: number): string | undefined {
  const sides = Number(/^d?(\d{1,9})$/iu.exec(value.trim())?.[1]);
  return Number.isFinite(sides) && sides > 0 ? String(1 + Math.floor(share * sides)) : undefined;
}
