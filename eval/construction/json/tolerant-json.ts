/** Result of reading one value. */
export type Tolerant =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'cut'; readonly candidates: readonly unknown[]; readonly problem: string }
  | { readonly kind: 'broken'; readonly problem: string };

/**
 * Reads an object or array as strict JSON, else with what models add or leave out: trailing commas, line breaks in
 * strings, Python's literals (`True`, `None`, strings in single quotes). Of a value whose end is missing, returns what is
 * complete.
 */
export function parseTolerant(text: string): Tolerant {
  try {
    return { kind: 'value', value: JSON.parse(text) };
  } catch {
    return new Reader(text).read();
  }
}

type Open =
  | { readonly kind: 'list'; readonly items: unknown[] }
  | { readonly kind: 'object'; readonly members: [string, unknown][] };

const deepest = 64;

class End extends Error {}
class Broken extends Error {}

class Reader {
  readonly #text: string;
  #at = 0;
  /** Lists and objects that are not closed yet, the outermost first. */
  readonly #open: Open[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  read(): Tolerant {
    try {
      const value = this.#value();
      return { kind: 'value', value };
    } catch (fault) {
      const problem = fault instanceof Error ? fault.message : '';
      if (fault instanceof End) return { kind: 'cut', candidates: this.#candidates(), problem };
      if (fault instanceof Broken) return { kind: 'broken', problem };
      throw fault;
    }
  }

  /** Values without their incomplete parts: first everything complete, then without the innermost open lists. */
  #candidates(): unknown[] {
    const found: unknown[] = [];
    for (let depth = this.#open.length; depth >= 1; depth -= 1) {
      let inner: { readonly value: unknown } | undefined;
      for (let level = depth - 1; level >= 0; level -= 1) {
        const open = this.#open[level] as Open;
        if (open.kind === 'list') {
          inner = { value: inner === undefined ? [...open.items] : [...open.items, inner.value] };
          continue;
        }
        const members = [...open.members];
        const key = this.#keys[level];
        if (inner !== undefined && key !== undefined) members.push([key, inner.value]);
        inner = { value: Object.fromEntries(members) };
      }
      found.push(inner?.value);
    }
    return found;
  }

  /** Key whose value is being read, by the depth of its object. */
  readonly #keys: (string | undefined)[] = [];

  #value(): unknown {
    const letter = this.#next();
    if (letter === '{') return this.#object();
    if (letter === '[') return this.#list();
    if (letter === '"' || letter === "'") return this.#string();
    return this.#word();
  }

  #list(): unknown[] {
    const items: unknown[] = [];
    this.#enter({ kind: 'list', items });
    for (;;) {
      if (this.#closes(']')) return items;
      items.push(this.#value());
      this.#comma(']');
    }
  }

  #object(): unknown {
    const members: [string, unknown][] = [];
    this.#enter({ kind: 'object', members });
    const level = this.#open.length - 1;
    for (;;) {
      if (this.#closes('}')) return Object.fromEntries(members);
      const letter = this.#next();
      if (letter !== '"' && letter !== "'") throw new Broken(`a name is expected at character ${this.#at}`);
      const key = this.#string();
      if (this.#next() !== ':') throw new Broken(`a colon is expected at character ${this.#at}`);
      this.#at += 1;
      this.#keys[level] = key;
      members.push([key, this.#value()]);
      this.#keys[level] = undefined;
      this.#comma('}');
    }
  }

  #enter(open: Open): void {
    if (this.#open.length >= deepest) throw new Broken('nested too deep');
    this.#at += 1;
    this.#open.push(open);
  }

  #closes(bracket: string): boolean {
    while (this.#next() === ',') this.#at += 1;
    if (this.#next() !== bracket) return false;
    this.#at += 1;
    this.#open.pop();
    return true;
  }

  /** A comma, or the closing bracket, which is left for `#closes`. */
  #comma(bracket: string): void {
    const letter = this.#next();
    if (letter !== ',' && letter !== bracket) throw new Broken(`a comma is expected at character ${this.#at}`);
  }

  /** The next letter that is not blank. Throws `End` if there is none. */
  #next(): string {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at += 1;
    const letter = this.#text[this.#at];
    if (letter === undefined) throw new End('the text ends before the value does');
    return letter;
  }

  #string(): string {
    const quote = this.#text[this.#at] as string;
    let written = '';
    for (let at = this.#at + 1; at < this.#text.length; at += 1) {
      const letter = this.#text[at] as string;
      if (letter === quote) {
        this.#at = at + 1;
        return written;
      }
      if (letter !== '\\') {
        written += letter;
        continue;
      }
      const escape = /\\(?:u([0-9a-fA-F]{4})|([\s\S]))/y;
      escape.lastIndex = at;
      const [whole, code, one] = escape.exec(this.#text) ?? [];
      if (whole === undefined) break;
      written +=
        code === undefined ? (escapes[one ?? ''] ?? one ?? '') : String.fromCharCode(Number.parseInt(code, 16));
      at += whole.length - 1;
    }
    throw new End('the text ends inside of a string');
  }

  #word(): unknown {
    const word = /[-+\w.]*/y;
    word.lastIndex = this.#at;
    const found = word.exec(this.#text)?.[0] ?? '';
    // Half a word or number may stand at the end of a text that was cut.
    if (this.#at + found.length >= this.#text.length) throw new End('the text ends inside of a value');
    const value = Object.hasOwn(words, found) ? words[found] : Number(found);
    if (found === '' || Number.isNaN(value)) throw new Broken(`no value at character ${this.#at}`);
    this.#at += found.length;
    return value;
  }
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', '\n': '' };
const words: Readonly<Record<string, unknown>> = {
  true: true,
  True: true,
  false: false,
  False: false,
  null: null,
  None: null,
};
