import { EvalError } from '../../eval-error.ts';
import { storySections } from '../books/chunk-stories.ts';
import { piecesOf } from '../books/halve.ts';
import { readBooks } from '../books/read-books.ts';
import type { Prompt } from '../runner/prompts.ts';
import type { Pipeline, Stage } from '../runner/stage.ts';
import { languageOf } from '../runner/words.ts';
import { alignStage, rolesStage, type AlignedRole, type Aspect } from './align.ts';
import { coherenceStage, conflictStage, extractStage, longestStage } from './dialogues.ts';
import { readRoles, type NovelChunk, type Role } from './roles.ts';
import { roleRows } from './rows.ts';
import { bestStage, sceneStage, scoreStage } from './scenes.ts';

export interface NovelOptions {
  readonly input: string;
  readonly rights: string;
  readonly promptOf: (name: string) => Prompt;
  /** 2,000 in the paper. */
  readonly chunkTokens?: number | undefined;
  /** File with the table of roles. */
  readonly roles?: string | undefined;
}

const defaultTokens = 2_000;
const leastChapterLength = 500;
const leastBookLength = 2_000;

/** Beyond Dialogue (Yu et al. 2024): dialogues of two from novels, aligned with the profile of the role. */
export function novelPipeline({
  input,
  rights,
  promptOf,
  chunkTokens = defaultTokens,
  roles: file,
}: NovelOptions): Pipeline {
  if (file === undefined) throw new EvalError('usage', 'The build "novel" needs --roles FILE, the table of roles.');
  // Filled before the first stage runs: the table is read with the books.
  const roles: Role[] = [];
  const alignPrompt = (aspect: Aspect): Prompt => promptOf(`novel/${aspect}`);
  const stages: readonly Stage[] = [
    sceneStage(promptOf('novel/scene'), roles),
    scoreStage(promptOf('novel/score'), roles),
    bestStage(),
    extractStage(promptOf('novel/extract'), roles),
    longestStage(),
    coherenceStage(promptOf('novel/coherence')),
    conflictStage(promptOf('novel/conflict'), roles),
    alignStage(alignPrompt, roles),
    rolesStage(roles),
  ];
  return {
    name: 'novel',
    about: 'Dialogues of a role with one partner from novels, aligned with its profile, after Beyond Dialogue.',
    async *records(signal) {
      roles.splice(0, roles.length, ...(await readRoles(file)));
      yield* novelChunks(input, chunkTokens, signal);
    },
    stages,
    rows: (record) => roleRows(record as AlignedRole, { rights, promptOf: alignPrompt, roles }),
  };
}

/** Cuts novels into chapters, and these into chunks of whole lines. Leaves out books of less than 2,000 characters. */
async function* novelChunks(input: string, tokens: number, signal: AbortSignal): AsyncGenerator<NovelChunk> {
  for await (const { key, title, text, file } of readBooks(input)) {
    signal.throwIfAborted();
    if (text.length < leastBookLength) continue;
    const language = languageOf(text.slice(0, 100_000));
    for (const [chapterIndex, section] of storySections(text, leastChapterLength).entries())
      for (const [index, { from, to }] of piecesOf(text, section, tokens).entries())
        yield {
          id: `${key}/${chapterIndex}/${index}`,
          book: key,
          title,
          language,
          chapter: section.title,
          text: text.slice(from, to),
          provenance: { stage: 'input', sources: [{ file, from, to }], models: [], promptHashes: [] },
        };
  }
}
