import path from 'node:path';
import * as fc from '../../fakes/property.ts';
import { describe, expect, it } from 'vitest';
import { concatSamples } from '../../../voices/audio.ts';
import { readAudioFile } from '../../../voices/dsp/audio-file.ts';
import { addRecordings, type AddOptions } from '../../../voices/library/add-recordings.ts';
import { clusterEmbeddings } from '../../../voices/library/cluster-embeddings.ts';
import type { ClipEngines } from '../../../voices/library/examine-clip.ts';
import { openVoiceStore } from '../../../voices/library/store.ts';
import { cosine } from '../../../voices/speaker-encoder.ts';
import { openOnnxSpeaker } from '../../../voices/speakers/onnx-speaker.ts';
import { openSilero } from '../../../voices/vads/silero.ts';
import { writeWav } from '../../../voices/dsp/wav.ts';
import { fakeRecognizer } from '../../fakes/recognizer.ts';
import { writeSmallReaders } from '../../fakes/models/small-models.ts';
import { sharedAvailable, sharedPath } from '../../shared.ts';
import { keptForTests } from '../../rigs/voice-engine-rig.ts';

/** The textbook algorithm: joins the best of all pairs until none is good enough. */
function groupedByTheBook(points: readonly (readonly number[])[], least: number): number[][] {
  const groups = points.map((_, place) => [place]);
  const mean = (one: number[], other: number[]): number =>
    one
      .flatMap((a) => other.map((b) => cosine(points[a] ?? [], points[b] ?? [])))
      .reduce((sum, each) => sum + each, 0) /
    (one.length * other.length);
  for (;;) {
    const pairs = groups.flatMap((one, a) =>
      groups.slice(a + 1).map((other) => ({ one, other, at: mean(one, other) })),
    );
    const best = pairs.toSorted((a, b) => b.at - a.at)[0];
    if (best === undefined || best.at < least) return groups.toSorted(([a = 0], [b = 0]) => a - b);
    groups.splice(groups.indexOf(best.other), 1);
    groups[groups.indexOf(best.one)] = [...best.one, ...best.other].toSorted((a, b) => a - b);
  }
}

describe('speaker clustering', () => {
  it('clustering joins similar embeddings and reports its loosest join', () => {
    const at = (degrees: number) => [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
    const { groups, loosest } = clusterEmbeddings([at(0), at(90), at(10), at(95)], 0.5);
    expect(groups.map((group) => group.join()).toSorted()).toEqual(['0,2', '1,3']);
    expect(loosest).toBeCloseTo(Math.cos((10 * Math.PI) / 180), 6);
    expect(clusterEmbeddings([at(0), at(90)], -1).loosest).toBeCloseTo(0, 6);
    expect(clusterEmbeddings([], 0.3)).toEqual({ groups: [], loosest: 1 });
    expect(clusterEmbeddings([at(3)], 0.3)).toEqual({ groups: [[0]], loosest: 1 });
  });

  it('clustering equals textbook average linkage', () => {
    const point = fc.array(fc.integer({ min: -1_000, max: 1_000 }), { minLength: 3, maxLength: 3 });
    fc.assert(
      fc.property(
        fc.array(point, { maxLength: 12 }),
        fc.double({ min: -0.5, max: 0.95, noNaN: true }),
        (some, least) => {
          const points = some.map((each) => each.with(0, (each[0] ?? 0) + 0.5));
          const { groups } = clusterEmbeddings(points, least);
          expect(groups.toSorted(([a = 0], [b = 0]) => a - b)).toEqual(groupedByTheBook(points, least));
        },
      ),
    );
  });
});

const { signal } = new AbortController();
const { folder, keep } = await keptForTests();
const rate = 24_000;

async function read(name: string, sampleRate = rate): Promise<Float32Array> {
  return (await readAudioFile(sharedPath(`audio/${name}`), { sampleRate, signal })).samples;
}

describe.skipIf(!sharedAvailable)('recordings of two speakers', () => {
  const [long, longToo, other] = [
    'libri-2412-153948-0000.flac',
    'libri-2412-153948-0001.flac',
    'libri-1998-15444-0001.flac',
  ] as const;
  const vad = keep(openSilero());
  let stores = 0;

  async function addition(about: Partial<AddOptions> = {}) {
    const { modelPath } = await writeSmallReaders(path.join(folder, 'readers.onnx'));
    const encoder = keep(await openOnnxSpeaker({ modelPath, signal }));
    const recognizer = fakeRecognizer(Array.from({ length: 20 }, (_, index) => `Line ${index + 1}.`));
    const studio: ClipEngines = { vad, recognizer, encoder };
    const pause = new Float32Array(rate);
    const talk = path.join(folder, 'talk.wav');
    const [first, second, third] = [await read(long), await read(other), await read(longToo)];
    await writeWav(talk, concatSamples([first, pause, second, pause, third]), rate);
    // Without a pause between them, so a clip contains both speakers.
    const overlap = path.join(folder, 'overlap.wav');
    await writeWav(
      overlap,
      concatSamples([second.subarray(0.5 * rate, 4 * rate), (await read('jfk.wav')).subarray(7.8 * rate, 10.8 * rate)]),
      rate,
    );
    stores += 1;
    const store = openVoiceStore(path.join(folder, `data-${stores}`));
    const options = { files: [talk], id: 'reader', consent: 'LibriSpeech', leastQuality: 2.5, signal, ...about };
    return {
      store,
      studio,
      options,
      talk,
      overlap,
      add: (more: Partial<AddOptions> = {}) => addRecordings(store, studio, { ...options, ...more }),
    };
  }

  it('the speaker with the most speech becomes the voice, and the other one on request', async () => {
    const { add } = await addition();
    const { record, heard, clips } = await add();
    expect(heard?.mixed).toEqual([]);
    const [most, least] = heard?.speakers ?? [];
    expect(heard?.speakers).toHaveLength(2);
    expect(clips).toBe((most?.clips.length ?? 0) + (least?.clips.length ?? 0));
    // 22 s of speech and 6 s.
    expect(most?.seconds).toBeGreaterThan(15);
    expect(least?.seconds).toBeLessThan(8);
    const isOthers = ({ startMs }: { readonly startMs: number }) => startMs > 11_660 && startMs < 18_700;
    expect(most?.clips.some(isOthers)).toBe(false);
    expect(least?.clips.every(isOthers)).toBe(true);
    expect(record.reference.choice).toMatchObject({
      by: 'embedding',
      speaker: { number: 1, of: 2 },
      clips: most?.clips.length,
    });
    expect(isOthers(record.reference)).toBe(false);

    const second = await add({ speaker: 2 });
    expect(second.examined).toBe(0);
    expect(isOthers(second.record.reference)).toBe(true);
    // The chosen speaker stays, even if a later call does not name one.
    expect((await add()).record.reference).toEqual(second.record.reference);
    expect((await add({ speaker: 'all' })).record.reference.choice).not.toHaveProperty('speaker');
    await expect(add({ speaker: 3 })).rejects.toMatchObject({ code: 'voice_not_usable', message: /--speaker 1 to 2/ });
  });

  it('no clip contains both speakers', async () => {
    const { add, talk, overlap } = await addition();
    const { heard, record } = await add({ files: [talk, overlap] });
    expect(heard?.mixed.map(({ source }) => source)).toEqual(['overlap.wav']);
    expect(heard?.speakers).toHaveLength(2);
    expect(record.reference.source).toBe('talk.wav');
    const alone = await addition({ files: [overlap] });
    await expect(alone.add()).rejects.toMatchObject({ code: 'voice_not_usable', message: /--speaker all/ });
    await expect(alone.add({ speaker: 'all' })).resolves.toMatchObject({ clips: 1, examined: 0 });
  });

  it('an encoder that cannot separate the speakers finds one person, and no second one can be requested', async () => {
    const { store, studio, options } = await addition();
    const { encoder: _encoder, ...deaf } = studio;
    const result = await addRecordings(store, deaf, options);
    expect(result.heard).toBeUndefined();
    await expect(addRecordings(store, deaf, { ...options, speaker: 2 })).rejects.toMatchObject({
      code: 'voice_not_usable',
      message: /DRAMATIS_SPEAKER_ENCODER/,
    });
    // Once the speakers are separated, the earlier choice of the cleanest clip no longer counts.
    const told = await addRecordings(store, studio, { ...options, files: [] });
    expect(told.record.reference.choice.speaker).toEqual({ number: 1, of: 2 });
  });
});
