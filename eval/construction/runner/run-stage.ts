import { hash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { EngineError } from '../../../voices/engine.ts';
import { askForJson, askForText, type Request } from './ask.ts';
import type { OpenBuild } from './build.ts';
import { inOrder } from './in-order.ts';
import type { JournalEntry } from './journal.ts';
import { embeddings, once } from './once.ts';
import { groupsIn, openDraft, readRecords } from './record-file.ts';
import {
  Dropped,
  type DataRecord,
  type GroupStage,
  type Made,
  type Provenance,
  type RecordGroup,
  type Source,
  type Stage,
  type StageContext,
} from './stage.ts';
import { StageCounts, type StageReport } from './stage-counts.ts';

type Outcome =
  | { readonly kind: 'made'; readonly records: Iterable<DataRecord> | AsyncIterable<DataRecord> }
  | { readonly kind: 'failed'; readonly message: string };

/** Records at a time for each call at a time: one slow record must not keep the others waiting. */
const windowFactor = 4;
/** Failures in a row after which a server is given up. */
const mostFailures = 20;

/** Runs a stage on the records of a file and writes its own, in order. */
export async function runStage(
  stage: Stage | GroupStage,
  build: OpenBuild,
  files: { readonly from: string; readonly to: string },
): Promise<StageReport> {
  const counts = new StageCounts();
  const draft = await openDraft(files.to);
  let failuresInRow = 0;
  const run = async ({ count, work }: Work): Promise<Outcome> => {
    counts.in += count;
    if (failuresInRow >= mostFailures) return { kind: 'failed', message: counts.failure ?? '' };
    try {
      const made = { kind: 'made', records: await work() } as const;
      failuresInRow = 0;
      return made;
    } catch (fault) {
      build.signal.throwIfAborted();
      if (!(fault instanceof EngineError)) throw fault;
      failuresInRow += 1;
      return { kind: 'failed', message: fault.message };
    }
  };
  const items = 'runGroup' in stage ? groupWork(stage, build, counts, files) : work(stage, build, counts, files.from);
  try {
    for await (const outcome of inOrder(items, build.concurrency * windowFactor, run)) {
      if (outcome.kind === 'failed') counts.fail(outcome.message);
      else
        for await (const record of outcome.records) {
          counts.out += 1;
          await draft.write(`${JSON.stringify(record)}\n`);
        }
      build.onProgress?.(stage.name, counts.out);
    }
  } catch (fault) {
    await draft.abandon();
    throw fault;
  }
  await draft.finish();
  return counts.report(stage.name);
}

/** Work on a number of records. */
interface Work {
  readonly count: number;
  readonly work: () => Promise<Iterable<DataRecord> | AsyncIterable<DataRecord>>;
}

async function* work(stage: Stage, build: OpenBuild, counts: StageCounts, file: string): AsyncGenerator<Work> {
  const workOn = (records: readonly DataRecord[]): Work => ({
    count: records.length,
    work: () => runOn(stage, records, build, counts),
  });
  if (stage.groupBy === undefined) for await (const record of readRecords(file)) yield workOn([record]);
  else {
    const groups = await groupsIn(file, (record) => stage.groupBy?.(record) ?? '');
    for (const group of groups.values()) yield workOn(await Array.fromAsync(group));
  }
}

async function* groupWork(
  stage: GroupStage,
  build: OpenBuild,
  counts: StageCounts,
  files: { readonly from: string; readonly to: string },
): AsyncGenerator<Work> {
  let number = 0;
  for (const [key, records] of await groupsIn(files.from, (record) => stage.groupBy(record))) {
    const spool = `${files.to}.${number}`;
    number += 1;
    yield { count: records.count, work: () => runOnGroup(stage, { key, records, spool }, build, counts) };
  }
}

async function runOn(
  stage: Stage,
  records: readonly DataRecord[],
  build: OpenBuild,
  counts: StageCounts,
): Promise<readonly DataRecord[]> {
  const name = stage.groupBy?.(records[0] as DataRecord) ?? records[0]?.id ?? '';
  const { context, used } = openContext(stage.name, name, build, counts);
  let made: readonly Made<DataRecord>[];
  try {
    made = await stage.run(records, context);
  } catch (fault) {
    if (!(fault instanceof Dropped)) throw fault;
    counts.add(counts.dropped, fault.reason, records.length);
    return [];
  }
  const inherited = made.some(({ provenance }) => provenance === undefined) ? await mergedOf(records) : noOrigin;
  return made.map((record) => withOrigin(record, { stage: stage.name, inherited, used }));
}

/** Keeps what the stage makes in a file until its turn comes: only then all its models and prompts are known. */
async function runOnGroup(
  stage: GroupStage,
  { key, records, spool }: { readonly key: string; readonly records: RecordGroup; readonly spool: string },
  build: OpenBuild,
  counts: StageCounts,
): Promise<Iterable<DataRecord> | AsyncIterable<DataRecord>> {
  const { context, used } = openContext(stage.name, key, build, counts);
  const file = await openDraft(spool);
  let isInherited = false;
  try {
    for await (const record of stage.runGroup(records, context)) {
      isInherited ||= record.provenance === undefined;
      await file.write(`${JSON.stringify(record)}\n`);
    }
    await file.abandon();
  } catch (fault) {
    await file.abandon();
    await rm(file.draft);
    if (!(fault instanceof Dropped)) throw fault;
    counts.add(counts.dropped, fault.reason, records.count);
    return [];
  }
  const inherited = isInherited ? await mergedOf(records) : noOrigin;
  return (async function* () {
    for await (const record of readRecords(file.draft))
      yield withOrigin(record, { stage: stage.name, inherited, used });
    await rm(file.draft);
  })();
}

/** Models that answered and prompts that were asked, on one record or group. */
interface Used {
  readonly models: Set<string>;
  readonly prompts: Set<string>;
}

function openContext(
  stage: string,
  name: string,
  build: OpenBuild,
  counts: StageCounts,
): { readonly context: StageContext; readonly used: Used } {
  const used: Used = { models: new Set(), prompts: new Set() };
  const request = requests(stage, name, build, (entry) => {
    counts.take(entry);
    used.models.add(entry.answered ?? entry.asked);
    used.prompts.add(entry.prompt);
  });
  const tally = (outcome: string): void => counts.add(counts.replies, outcome);
  const context: StageContext = {
    signal: build.signal,
    askJson: (question) => askForJson(question, request, tally),
    askText: (question) => askForText(question, request, tally),
    embed: (texts) => embeddings(texts, { stage, record: name }, build),
    folder: build.folder,
    once: (work) => once(work, { stage, record: name }, build),
    drop: (reason, count = 1) => counts.add(counts.dropped, reason, count),
    count: (what, count = 1) => counts.add(counts.counted, what, count),
  };
  return { context, used };
}

function withOrigin(
  record: Made<DataRecord>,
  { stage, inherited, used }: { readonly stage: string; readonly inherited: Provenance; readonly used: Used },
): DataRecord {
  const origin = record.provenance ?? inherited;
  const provenance: Provenance = {
    stage,
    sources: origin.sources,
    models: [...new Set([...origin.models, ...used.models])].sort(),
    promptHashes: [...new Set([...origin.promptHashes, ...used.prompts])].sort(),
  };
  return { ...record, provenance };
}

const noOrigin: Provenance = { stage: '', sources: [], models: [], promptHashes: [] };

async function mergedOf(records: Iterable<DataRecord> | AsyncIterable<DataRecord>): Promise<Provenance> {
  const sources = new Map<string, Source>();
  const [models, promptHashes] = [new Set<string>(), new Set<string>()];
  for await (const { provenance } of records) {
    for (const source of provenance.sources) sources.set(JSON.stringify(source), source);
    for (const model of provenance.models) models.add(model);
    for (const prompt of provenance.promptHashes) promptHashes.add(prompt);
  }
  return { stage: '', sources: [...sources.values()], models: [...models], promptHashes: [...promptHashes] };
}

/** Answers requests from the journal, else from the stage's model, and then writes them to the journal. */
function requests(stage: string, record: string, build: OpenBuild, take: (entry: JournalEntry) => void): Request {
  return async ({ part, attempt, promptHash, messages, sampling }) => {
    const { model, endpoint, prices } = build.modelOf(stage);
    const key = { stage, record, part, attempt };
    const input = hash('sha256', JSON.stringify([model.name, messages, sampling]));
    const known = await build.journal.find(key, input);
    if (known !== undefined) {
      take(known);
      return known;
    }
    // The entry is on disk before the call gives up its place: no more than the places can be lost by a kill.
    const entry = await endpoint.call(
      async (options) => {
        const startMs = build.clock.now();
        const reply = await model.complete({ ...key, messages, sampling }, options);
        const cost = (reply.inputTokens * prices.input + reply.outputTokens * prices.output) / 1e6;
        build.budget.spend(cost);
        const made: JournalEntry = {
          ...key,
          input,
          prompt: promptHash,
          asked: model.name,
          answered: reply.model,
          sampling: { ...sampling },
          finish: reply.finish,
          reply: reply.text,
          inputTokens: reply.inputTokens,
          outputTokens: reply.outputTokens,
          cost,
          ms: Math.round(build.clock.now() - startMs),
        };
        await build.journal.append(made);
        return made;
      },
      { signal: build.signal, throwIfStopped: () => build.budget.check() },
    );
    take(entry);
    return entry;
  };
}
