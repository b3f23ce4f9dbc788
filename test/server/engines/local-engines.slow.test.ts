import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkPlannedEngines } from '../../../server/cli/doctor/engines.ts';
import { planEngines } from '../../../server/engines/engine-plan.ts';
import { openEngines } from '../../../server/engines/engines.ts';
import { pcm16FromFloats } from '../../../voices/audio.ts';
import type { CallCost } from '../../../voices/calls/calls.ts';
import type { Weights } from '../../../voices/models/weights.ts';
import { isInstalled } from '../../fakes/models/installed.ts';
import { tinyGguf } from '../../fakes/models/tiny-gguf.ts';
import { tinyZipformer } from '../../fakes/models/tiny-recognizers.ts';
import { tinyFiles } from '../../fakes/models/tiny-model.ts';
import { tinyVits } from '../../fakes/models/tiny-synthesizers.ts';
import { fakeTurnDetector } from '../../fakes/turn-detector.ts';
import { fakeVad, silence, tone } from '../../fakes/vad.ts';
import { characters, serve } from '../../rigs/serve-rig.ts';
import { testFolder } from '../../fakes/test-folder.ts';

const folder = testFolder();
const files = tinyFiles(folder);

/** As the user would write them: relative to the engines file. */
const named = ({ path: place, sha256 }: Weights): Weights => ({ path: `./${path.basename(place)}`, sha256 });
const allNamed = (weights: Readonly<Record<string, Weights>>) =>
  Object.fromEntries(Object.entries(weights).map(([part, file]) => [part, named(file)]));

const ear = {
  kind: 'sherpa-onnx',
  family: 'streaming-zipformer',
  files: allNamed(await tinyZipformer(files, ['GOOD', 'EVENING', 'MARTHA'])),
};
const model = named(await files.write('martha.gguf', tinyGguf(['I', ' keep', ' the', ' house', '.'])));
const llama = { kind: 'node-llama-cpp', model, contextSize: 16_384, talks: 1, threads: 1, gpu: 'off' };
const mouth = { kind: 'sherpa-onnx', family: 'vits', files: allNamed(await tinyVits(files)), voices: { female: '1' } };

let written = 0;
async function enginesFile(content: object): Promise<string> {
  const file = path.join(folder, `engines-${(written += 1)}.json`);
  await writeFile(file, JSON.stringify(content));
  return file;
}

const everyEngine = (): Promise<string> =>
  enginesFile({ engines: { ear, llama, mouth }, asr: 'ear', llm: 'llama', tts: 'mouth' });

const alice = characters.get('alice');
if (alice === undefined) throw new Error('no Alice');

describe.skipIf(!isInstalled('sherpa-onnx-node') || !isInstalled('node-llama-cpp'))('in-process engines', async () => {
  it('checks in-process engines in the doctor', async () => {
    const engines = await everyEngine();
    const found = await checkPlannedEngines(planEngines({ engines }, {}), alice);
    expect(found.map(({ name, ok, says }) => `${ok ? '✓' : '✗'} ${name} ${says}`)).toEqual([
      expect.stringMatching(
        /^✓ ear sherpa-onnx: streaming-zipformer is loaded, .*; hears “.+” in “Good evening\.” after \d+ ms$/,
      ),
      expect.stringMatching(/^✓ llama node-llama-cpp: is loaded, .* chat template ChatML; answers after \d+ ms$/),
      expect.stringMatching(/^✓ mouth sherpa-onnx: vits is loaded, .* 16 kHz; synthesizes after \d+ ms$/),
      expect.stringMatching(/^✓ words and prosody prosody: decides when a turn is over/),
    ]);
  });

  it('reports the remedy in the doctor for weights without a hash, damaged weights and wrong weights', async () => {
    const { tokens, ...models } = mouth.files;
    const damaged = named(await files.write('damaged.onnx', 'no model at all'));
    const vits = { ...mouth, retries: 0 };
    const engines = await enginesFile({
      engines: {
        unpinned: { ...vits, files: { ...mouth.files, tokens: { path: tokens?.path } } },
        cut: { ...vits, files: { ...models, tokens: { ...tokens, sha256: '0'.repeat(64) } } },
        gone: { ...vits, files: { ...models, tokens: { ...tokens, path: 'gone.txt' } } },
        damaged: { ...vits, files: { tokens, model: damaged } },
        other: { ...vits, files: { tokens, model: ear.files['encoder'] } },
        unfit: { ...vits, family: 'zipvoice' },
      },
      tts: ['unpinned', 'cut', 'gone', 'damaged', 'other', 'unfit'],
    });
    const all = await checkPlannedEngines(planEngines({ engines }, {}), alice);
    const found = all.filter(({ stage }) => stage !== 'turn detector');
    expect(found.filter(({ ok }) => ok)).toEqual([]);
    expect(found.map(({ name, says }) => `${name} ${says}`)).toEqual([
      expect.stringContaining(`The files have these now: "tokens": ${tokens?.sha256}`),
      expect.stringMatching(/^cut .*download it again; or it is another version, so set "sha256"/),
      expect.stringContaining(
        `cannot be read at ${path.join(folder, 'gone.txt')}: download the weights, or correct the path`,
      ),
      expect.stringMatching(/^damaged .*(cannot be loaded|while loading).*do not match the kind in the settings/),
      expect.stringMatching(/^other .*(cannot be loaded|while loading).*do not match the kind in the settings/),
      expect.stringMatching(/^unfit The engine "unfit" \(sherpa-onnx\): files|^unfit .*files/),
    ]);
  });

  it('recognizes, answers and speaks with in-process engines only', async () => {
    const costs: CallCost[] = [];
    const engines = await openEngines({ engines: await everyEngine(), workers: 1 }, (cost) => costs.push(cost));
    try {
      const parts = { ...engines, vad: fakeVad(), turnDetector: fakeTurnDetector() };
      const server = await serve({
        engines: Object.defineProperty(parts, 'summary', { get: () => engines.summary }),
      });
      const client = server.call('?model=alice');
      await client.until('session.created');
      client.send({
        type: 'session.update',
        session: { type: 'realtime', audio: { input: { turn_detection: null } } },
      });
      await client.until('session.updated');
      for (const block of [tone(1_600), silence(600)]) {
        client.send({ type: 'input_audio_buffer.append', audio: pcm16FromFloats(block).toString('base64') });
      }
      client.send({ type: 'input_audio_buffer.commit' });
      client.send({ type: 'response.create' });
      const heard = await client.until('conversation.item.input_audio_transcription.completed');
      expect(heard['transcript']).toBe('good evening martha');
      const { response } = await client.until('response.done');
      expect(response).toMatchObject({ status: 'completed' });
      expect(response.output[0].content[0].transcript.trim()).toBe('I keep the house.');
      expect(costs.filter(({ engine }) => engine === 'ear')).toMatchObject([{ outcome: 'ok' }]);
      expect(costs.filter(({ engine }) => engine === 'llama')).toMatchObject([{ outputTokens: 6 }]);
      expect(costs.filter(({ engine, outcome }) => engine === 'mouth' && outcome === 'ok').length).toBeGreaterThan(0);
    } finally {
      await engines.close();
    }
  });
});
