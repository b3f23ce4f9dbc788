import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { coserPipeline } from '../../../eval/construction/coser/pipeline.ts';
import { openPrompts } from '../../../eval/construction/runner/prompts.ts';
import { openScratch } from '../scratch.ts';
import { coserScript } from './coser/coser-script.ts';
import { buildWithKills, faultsOf } from './rig/killed-build.ts';
import { build } from './rig/build-rig.ts';
import { scriptedModel } from './rig/scripted-model.ts';
import { roleLlmScript } from './rolellm/rolellm-script.ts';
import { speechRoleScript } from './speechrole/speechrole-script.ts';
import { dittoScript, wikiCharacters } from './ditto/ditto-script.ts';
import { novelScript, roleTable } from './novel/novel-script.ts';

const book = path.resolve(import.meta.dirname, 'books-in-public-domain/a-scandal-in-bohemia.txt');

/** Plots and conversations of the story, for the builds that ask about roles. */
async function builtNovel(scratch: string): Promise<string> {
  const folder = path.join(scratch, 'novel');
  const pipeline = coserPipeline({ input: book, rights: 'public domain', promptOf: openPrompts(), chunkTokens: 2_000 });
  await build(pipeline, folder, scriptedModel(coserScript(['Sherlock Holmes', 'Doctor Watson', 'King of Bohemia'])));
  return folder;
}

it('the coser build killed at several moments writes the same bytes and pays for nothing twice', async () => {
  await using scratch = await openScratch();
  const answers = coserScript(['Sherlock Holmes', 'Doctor Watson', 'King of Bohemia']);
  const args = ['coser', '--in', book, '--chunk-tokens', '1000'];
  const stages = ['extract', 'refine', 'names', 'profiles'];
  expect(faultsOf(await buildWithKills(args, stages, { answers, scratch: scratch.path }))).toEqual([]);
}, 300_000);

it('the novel build killed at several moments writes the same bytes and pays for nothing twice', async () => {
  await using scratch = await openScratch();
  const roles = path.join(scratch.path, 'roles.json');
  await writeFile(roles, roleTable('Holmes', 'cold', 'terse'));
  const answers = novelScript('Holmes', 'Watson', 'cold', 'terse');
  const args = ['novel', '--in', book, '--roles', roles, '--chunk-tokens', '1000'];
  const stages = ['scene', 'score', 'extract', 'coherence', 'conflict', 'align'];
  expect(faultsOf(await buildWithKills(args, stages, { answers, scratch: scratch.path }))).toEqual([]);
}, 300_000);

it('the speechrole build killed at several moments writes the same bytes and pays for nothing twice', async () => {
  await using scratch = await openScratch();
  const novel = await builtNovel(scratch.path);
  const args = ['speechrole-dialogues', '--in', novel, '--requests', '2', '--choices', '3', '--chunk-tokens', '1500'];
  const answers = speechRoleScript();
  const options = { answers, scratch: scratch.path, isEmbedding: true };
  expect(faultsOf(await buildWithKills(args, ['generate', 'category'], options))).toEqual([]);
}, 300_000);

it('the context-instruct build killed at several moments writes the same bytes and pays for nothing twice', async () => {
  await using scratch = await openScratch();
  const args = ['context-instruct', '--in', await builtNovel(scratch.path), '--candidates', '60'];
  const options = { answers: roleLlmScript(), scratch: scratch.path };
  expect(faultsOf(await buildWithKills(args, ['profile', 'instruct'], options))).toEqual([]);
}, 300_000);

it('the ditto build killed at several moments writes the same bytes and pays for nothing twice', async () => {
  await using scratch = await openScratch();
  const input = path.join(scratch.path, 'characters.jsonl');
  await writeFile(
    input,
    wikiCharacters(30, 'en')
      .map((row) => JSON.stringify(row))
      .join('\n'),
  );
  const options = { answers: dittoScript(), scratch: scratch.path };
  expect(faultsOf(await buildWithKills(['ditto', '--in', input], ['query', 'response'], options))).toEqual([]);
}, 300_000);
