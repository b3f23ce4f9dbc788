import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { bookText } from '../../../agents/drafting/book-text.ts';
import { EvalError } from '../../eval-error.ts';
import { linesIn } from '../runner/lines.ts';
import { decodeText } from './decode.ts';

/** A whole text without its publisher's header and licence. */
export interface Book {
  /** Title as a file name. */
  readonly key: string;
  readonly title: string;
  readonly author: string;
  readonly text: string;
  /** File and line that it was read from. */
  readonly file: string;
}

const row = z.object({ title: z.string().min(1), author: z.string().default(''), content: z.string() });

/**
 * Reads books one at a time: text files in any encoding, a folder of them, or JSONL of `{title, author, content}`.
 * Throws an `EvalError` that names the file.
 */
export async function* readBooks(place: string): AsyncGenerator<Book> {
  const seen = new Set<string>();
  for (const file of await filesOf(place)) {
    for await (const book of file.endsWith('.jsonl') ? booksInLines(file) : bookInFile(file)) {
      if (seen.has(book.key))
        throw new EvalError(
          'data',
          `${file}: two books have the title "${book.title}". Give one of them another title.`,
        );
      seen.add(book.key);
      yield book;
    }
  }
}

async function filesOf(place: string): Promise<readonly string[]> {
  const found = await stat(place).catch((cause: unknown) => {
    throw new EvalError('data', `${place} cannot be read. Give a text, a folder of texts, or JSONL.`, cause);
  });
  if (!found.isDirectory()) return [place];
  const names = (await readdir(place)).filter((name) => /\.(?:txt|jsonl)$/i.test(name)).sort();
  if (names.length === 0) throw new EvalError('data', `${place} contains no .txt or .jsonl file.`);
  return names.map((name) => path.join(place, name));
}

async function* bookInFile(file: string): AsyncGenerator<Book> {
  const { text, title, author } = bookText(decodeText(await readFile(file)).text);
  const name = title ?? path.parse(file).name;
  yield { key: fileNameOf(name), title: name, author: author ?? '', text, file: path.basename(file) };
}

async function* booksInLines(file: string): AsyncGenerator<Book> {
  let number = 0;
  for await (const { text: line } of linesIn(file)) {
    number += 1;
    if (line.trim() === '') continue;
    let parsed: z.infer<typeof row>;
    try {
      parsed = row.parse(JSON.parse(line.replace(/^\uFEFF/, '')));
    } catch (cause) {
      throw new EvalError('data', `${file}:${number} is not {"title", "author", "content"}.`, cause);
    }
    const { title, author, content } = parsed;
    const { text } = bookText(content.replaceAll(/\r\n?/g, '\n'));
    yield { key: fileNameOf(title), title, author, text, file: `${path.basename(file)}:${number}` };
  }
}

/** A title as the name of a file: `/` becomes `-`, `:` becomes `_`, and full stops go. */
export function fileNameOf(title: string): string {
  return title.replaceAll('/', '-').replaceAll(':', '_').replaceAll('.', '').trim();
}
