import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { concatSamples, type AudioFrame } from '../../../voices/audio.ts';
import { addRecordings, type AddOptions, type AddProgress } from '../../../voices/library/add-recordings.ts';
import type { ClipEngines } from '../../../voices/library/examine-clip.ts';
import { openVoiceStore, type VoiceStore } from '../../../voices/library/store.ts';
import { readWav, writeWav } from '../../../voices/dsp/wav.ts';
import { fakeRecognizer } from '../../fakes/recognizer.ts';
import { fakeVad, silence } from '../../fakes/vad.ts';
import { voiceLike } from '../../fakes/voice-like.ts';
import { keptForTests } from '../../rigs/voice-engine-rig.ts';

const { signal } = new AbortController();
const { folder } = await keptForTests();

/** Sentences of these lengths with a second of silence between them. */
async function recording(name: string, ...spans: readonly number[]): Promise<string> {
  const file = join(folder, name);
  const parts = spans.flatMap((ms) => [voiceLike(ms, 24_000), silence(1_000)]);
  await writeWav(file, concatSamples(parts), 24_000);
  return file;
}

/** Models that count their calls; longer clips are better and have more similar embeddings. */
function models() {
  const asked = { rated: 0, embedded: 0 };
  return {
    asked,
    meter: {
      name: 'fake-dnsmos',
      async rate({ samples }: AudioFrame) {
        asked.rated += 1;
        return { signal: 3, background: 3, overall: samples.length / 24_000 - 1 };
      },
    },
    encoder: {
      name: 'fake-encoder',
      sampleRate: 16_000,
      dimensions: 2,
      async embed({ samples }: AudioFrame) {
        asked.embedded += 1;
        const angle = Math.abs(samples.length / 24_000 - 5) / 3;
        return Float32Array.of(Math.cos(angle), Math.sin(angle));
      },
    },
  };
}

const hears = (...lines: readonly string[]) => fakeRecognizer(lines.length === 0 ? ['Mind the step.'] : lines);
const plain = (): ClipEngines => ({ vad: fakeVad(), recognizer: hears() });
const long = await recording('long.wav', 4_000, 5_000, 6_000);
const short = await recording('short.wav', 3_500);

let stores = 0;
function freshStore(): VoiceStore {
  stores += 1;
  return openVoiceStore(join(folder, `data-${stores}`));
}

function optionsFor(about: Partial<AddOptions>): AddOptions {
  return { files: [long], id: 'martha', consent: 'Martha said so', leastQuality: 2.5, signal, ...about };
}

/** Every file under a folder with the time it was last written. */
async function filesIn(place: string): Promise<Record<string, number>> {
  const entries = await readdir(place, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('.locks'))
    .map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(await Promise.all(files.map(async (file) => [file, (await stat(file)).mtimeMs])));
}

describe('adding recordings to a voice', () => {
  it('adding a recording cuts, transcribes and measures it, and chooses the most typical clip', async () => {
    const store = freshStore();
    const { meter, encoder } = models();
    const recognizer = hears('Too short for good quality.', 'Mind the step.', 'The kettle sings.');
    const progress: AddProgress[] = [];
    const result = await addRecordings(
      store,
      { vad: fakeVad(), recognizer, meter, encoder },
      optionsFor({ leastQuality: 3.5, licence: 'CC0', onProgress: (step) => progress.push(step) }),
    );
    const { record } = result;
    expect(result).toMatchObject({ clips: 3, examined: 3, unfit: { poor: 1, withoutTranscript: 0 } });
    expect(record).toMatchObject({ id: 'martha', language: 'en', licence: 'CC0', consent: { note: 'Martha said so' } });
    expect(record.reference).toMatchObject({
      source: 'long.wav',
      transcript: 'Mind the step.',
      choice: { by: 'embedding', clips: 2 },
      measured: { quality: { meter: 'fake-dnsmos' }, embedding: { encoder: 'fake-encoder' } },
    });
    expect(await store.read('martha')).toEqual(record);
    const { samples, sampleRate } = await readWav(store.place('martha', record.reference.file));
    expect(sampleRate).toBe(24_000);
    expect(samples.length / 24_000).toBeCloseTo(record.reference.measured.seconds, 2);
    expect(progress.map(({ type, clips }) => `${type} ${clips}`)).toEqual([
      'cut 3',
      'examined 0',
      'examined 1',
      'examined 2',
      'examined 3',
    ]);
  });

  it('a new voice needs consent, which is stored', async () => {
    const store = freshStore();
    for (const consent of [undefined, '  ']) {
      const refused = addRecordings(store, plain(), optionsFor({ consent }));
      await expect(refused).rejects.toMatchObject({ code: 'voice_consent_missing' });
    }
    expect(await store.list()).toEqual([]);
    await addRecordings(store, plain(), optionsFor({ now: () => '2026-01-02T03:04:05Z' }));
    const { record } = await addRecordings(store, plain(), optionsFor({ consent: undefined, files: [short] }));
    expect(record.consent).toEqual({ note: 'Martha said so', recordedAt: '2026-01-02T03:04:05Z' });
  });

  it('adding the same recordings again does nothing, and new ones are added', async () => {
    const store = freshStore();
    const { asked, meter, encoder } = models();
    const studio = { ...plain(), meter, encoder };
    const first = await addRecordings(store, studio, optionsFor({}));
    const before = await filesIn(folder);
    const second = await addRecordings(store, { ...studio, recognizer: hears('Never heard.') }, optionsFor({}));
    expect(second).toEqual({ ...first, examined: 0 });
    expect(await filesIn(folder)).toEqual(before);
    // Each clip, and its parts of at least 1.5 s.
    expect(asked).toEqual({ rated: 3, embedded: 3 + 9 });
    const more = await addRecordings(store, studio, optionsFor({ files: [long, short] }));
    expect(more).toMatchObject({ clips: 4, examined: 1 });
    // The same audio under another name is the same recording.
    const copy = join(folder, 'copy.wav');
    await writeWav(copy, (await readWav(long)).samples, 24_000);
    expect(await addRecordings(store, studio, optionsFor({ files: [copy] }))).toMatchObject({ clips: 4, examined: 0 });
  });

  it('a new model re-examines only what it can add to', async () => {
    const store = freshStore();
    const { asked, meter, encoder } = models();
    const before = await addRecordings(store, plain(), optionsFor({}));
    expect(before.record.reference.choice.by).toBe('snr');
    const judged = await addRecordings(store, { ...plain(), meter }, optionsFor({}));
    expect(judged).toMatchObject({ examined: 3, record: { reference: { choice: { by: 'dnsmos' } } } });
    const known = await addRecordings(store, { ...plain(), meter, encoder }, optionsFor({}));
    expect(known).toMatchObject({ examined: 3, record: { reference: { choice: { by: 'embedding' } } } });
    // Each clip, and its parts of at least 1.5 s.
    expect(asked).toEqual({ rated: 3, embedded: 3 + 9 });
  });

  it('adding recordings resumes after an interruption', async () => {
    const store = freshStore();
    const { asked, meter } = models();
    const controller = new AbortController();
    const onProgress = (step: AddProgress): void => {
      if (step.type === 'examined' && step.clips === 2) controller.abort(new Error('Ctrl-C'));
    };
    const studio = { ...plain(), meter };
    const broken = addRecordings(store, studio, optionsFor({ onProgress, signal: controller.signal }));
    await expect(broken).rejects.toThrow('Ctrl-C');
    const { examined } = await addRecordings(store, studio, optionsFor({ consent: undefined }));
    expect(examined).toBe(1);
    expect(asked.rated).toBe(3);
  });

  it('a voice without a usable clip is refused, with reason and advice', async () => {
    const store = freshStore();
    const failure = (detail: string) => ({ code: 'voice_not_usable', message: expect.stringContaining(detail) });
    const silent = await recording('silent.wav', 500);
    const mute: ClipEngines = { vad: fakeVad(), recognizer: fakeRecognizer(['']) };
    await expect(addRecordings(store, plain(), optionsFor({ files: [silent] }))).rejects.toMatchObject(
      failure('3 seconds'),
    );
    expect(await store.list()).toEqual([]);
    await expect(addRecordings(store, mute, optionsFor({ files: [short] }))).rejects.toMatchObject(failure('clip.txt'));
    const { meter } = models();
    const poor = addRecordings(freshStore(), { ...plain(), meter }, optionsFor({ leastQuality: 5.5 }));
    await expect(poor).rejects.toMatchObject(failure('--min-quality'));
  });

  it('the transcript of a recording is taken from the text file beside it', async () => {
    const store = freshStore();
    const mute: ClipEngines = { vad: fakeVad(), recognizer: fakeRecognizer(['']) };
    const file = await recording('read.wav', 4_000);
    await expect(addRecordings(store, mute, optionsFor({ files: [file] }))).rejects.toMatchObject({
      code: 'voice_not_usable',
    });
    await writeFile(join(folder, 'read.txt'), ' 广州市\n房地产 \n');
    const { record, examined } = await addRecordings(store, mute, optionsFor({ files: [file] }));
    expect(record.reference).toMatchObject({ transcript: '广州市 房地产', transcribedBy: 'text file' });
    expect(record.language).toBe('zh');
    expect(examined).toBe(1);
    expect(await addRecordings(store, mute, optionsFor({ files: [file] }))).toMatchObject({ examined: 0 });
  });

  it('an unreadable recording is reported by name', async () => {
    const missing = addRecordings(freshStore(), plain(), optionsFor({ files: [join(folder, 'nowhere.wav')] }));
    await expect(missing).rejects.toMatchObject({ code: 'audio_file_not_found' });
  });

  it('an unreadable first recording leaves no new voice behind, and existing voices unchanged', async () => {
    const store = freshStore();
    const files = [join(folder, 'nowhere.wav')];
    await expect(addRecordings(store, plain(), optionsFor({ files }))).rejects.toThrow();
    expect(await store.list()).toEqual([]);
    const { record } = await addRecordings(store, plain(), optionsFor({}));
    await expect(addRecordings(store, plain(), optionsFor({ files }))).rejects.toThrow();
    expect(await store.read('martha')).toEqual(record);
  });
});

describe('voice store', () => {
  it('removing a voice removes its clips and nothing that the store did not write', async () => {
    const store = freshStore();
    await addRecordings(store, plain(), optionsFor({}));
    expect(await store.list()).toEqual(['martha']);
    const record = store.place('martha', 'voice.json');
    await writeFile(record, '{"version":1}');
    await expect(store.read('martha')).rejects.toMatchObject({ code: 'voice_invalid' });
    await store.remove('martha');
    expect(await store.list()).toEqual([]);
    await expect(stat(record)).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(store.remove('martha')).rejects.toMatchObject({ code: 'voice_not_found' });
  });

  it.each(['../martha', 'Martha', '', 'a/b', '..'])(
    'a voice name cannot lead out of the store’s folder: %s',
    async (id) => {
      await expect(freshStore().read(id)).rejects.toMatchObject({ code: 'voice_invalid' });
    },
  );
});
