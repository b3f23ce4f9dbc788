/** A problem in a character pack for its author to look at. */
export interface Finding {
  /** File and row, such as `lines.jsonl:12`. */
  readonly where: string;
  /** `contradiction`: card and lines cannot both be right. `note`: worth a look. */
  readonly kind: 'contradiction' | 'note';
  readonly what: string;
}

export function contradiction(where: string, what: string): Finding {
  return { where, kind: 'contradiction', what };
}

export function note(where: string, what: string): Finding {
  return { where, kind: 'note', what };
}

/** Location of a line; `index` counts non-empty lines. */
export function rowOf(index: number): string {
  return `lines.jsonl:${index + 1}`;
}

/** Start of a text, for messages. */
export function shortened(text: string): string {
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
