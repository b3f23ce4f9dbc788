import path from 'node:path';
import { packOf, type ImportReport, type Problem } from './draft.ts';
import { filesEnding, jsonRows, textOrProblem } from './files.ts';
import { withoutFrame } from './role-frame.ts';
import { exchangesOf, scriptLines, speakerNamed } from './script-lines.ts';

const rights = 'ChatHaruhi (data CC BY-NC 4.0; the character belongs to its owners); do not publish';
const opening = /I want you to act like (.+?) from (.+?)\.?\s*(?:\n|$)/u;
const vectorNames = ['luotuo_openai', 'bge_zh_s15', 'bge_en_s15'];

/** Contents of a ChatHaruhi role: a system prompt and chunks of its story. */
interface Story {
  readonly key: string;
  readonly system: string;
  readonly chunks: readonly string[];
}

/**
 * Imports ChatHaruhi roles: folders with `system_prompt.txt` and `texts/*.txt`, or JSONL packages, one or a folder of
 * them (`text` or base64 `enc_text`, and an embedding as big-endian float32 in base64; the row whose embedding reads
 * "system_prompt" is the prompt, "config" is skipped). Embeddings are checked and not imported: we find scenes by BM25.
 */
export async function importChatHaruhi(place: string): Promise<ImportReport> {
  const problems: Problem[] = [];
  const files = await filesEnding(place, 'system_prompt.txt', '.jsonl');
  const stories: Story[] = [];
  for (const file of files) {
    const story = file.endsWith('.txt') ? await folderStory(file, problems) : await packageStory(file, problems);
    if (story !== undefined) stories.push(story);
  }
  const packs = stories.flatMap((story) => {
    const [, name = story.key, work] = opening.exec(story.system) ?? [];
    const scripts = story.chunks.map(scriptLines);
    const speaker = speakerNamed(scripts.flat(), name);
    const pack = packOf(
      {
        name,
        key: story.key,
        ...(work === undefined ? {} : { work }),
        rights,
        profile: withoutFrame(story.system),
        exchanges: speaker === undefined ? [] : scripts.flatMap((lines) => exchangesOf(lines, speaker)),
      },
      `${place}: ${story.key}`,
      problems,
    );
    return pack === undefined ? [] : [pack];
  });
  return { packs, problems };
}

async function folderStory(prompt: string, problems: Problem[]): Promise<Story> {
  const folder = path.dirname(prompt);
  const files = await filesEnding(path.join(folder, 'texts'), '.txt').catch(() => []);
  if (files.length === 0) problems.push({ where: folder, what: 'no texts/*.txt' });
  const chunks: string[] = [];
  for (const chunk of files) chunks.push((await textOrProblem(chunk, problems)) ?? '');
  return { key: path.basename(folder), system: (await textOrProblem(prompt, problems)) ?? '', chunks };
}

async function packageStory(file: string, problems: Problem[]): Promise<Story | undefined> {
  const chunks: string[] = [];
  let system = '';
  let dimensions: number | undefined;
  for await (const { row, value } of jsonRows(file, problems)) {
    const where = `${file}:${row}`;
    const text = textOfRow(value);
    const vector = vectorOf(value);
    if (text === undefined || vector === undefined)
      problems.push({ where, what: 'neither text nor enc_text with an embedding' });
    else if (vector === 'system_prompt') system = text;
    else if (vector !== 'config') {
      const count = numbersIn(vector);
      dimensions ??= count;
      if (count === undefined) problems.push({ where, what: 'the embedding is not float32 in base64' });
      else if (count !== dimensions)
        problems.push({ where, what: `the embedding has ${count} numbers, those before it ${dimensions}` });
      if (text.includes('\uFFFD')) problems.push({ where, what: 'its text is not UTF-8' });
      chunks.push(text);
    }
  }
  if (chunks.length === 0) {
    problems.push({ where: file, what: 'contains no row of a ChatHaruhi package' });
    return undefined;
  }
  return { key: path.basename(file, '.jsonl'), system, chunks };
}

function textOfRow(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if ('text' in value && typeof value.text === 'string') return value.text;
  if ('enc_text' in value && typeof value.enc_text === 'string')
    return Buffer.from(value.enc_text, 'base64').toString('utf8');
  return undefined;
}

function vectorOf(value: unknown): string | undefined {
  const row = typeof value === 'object' && value !== null ? new Map(Object.entries(value)) : new Map<string, unknown>();
  return vectorNames.map((name) => row.get(name)).find((each) => typeof each === 'string');
}

/** Number of finite big-endian float32 values; undefined if the data is empty or anything else. */
function numbersIn(base64: string): number | undefined {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length === 0 || bytes.length % 4 !== 0) return undefined;
  for (let at = 0; at < bytes.length; at += 4) if (!Number.isFinite(bytes.readFloatBE(at))) return undefined;
  return bytes.length / 4;
}
