import { describe, expect, it } from 'vitest';
import { downloadBytes, readCatalogue } from '../../../voices/models/catalogue.ts';

const catalogue = readCatalogue();
const downloads = catalogue.flatMap(({ id, downloads: files }) => files.map((each) => ({ id, ...each })));
/** Downloads whose hash no public source was found to state. */
const unstated = ['whisper-turbo', 'punctuation-en', 'qwen3-8b'];

describe('catalogue of models', () => {
  it('no download is trusted at first sight whose hash its publisher states', () => {
    const without = downloads.filter(({ sha256 }) => sha256 === '').map(({ id }) => id);
    expect(without).toEqual(unstated);
  });

  it('no download of hundreds of megabytes begins without showing its size', () => {
    const unsized = catalogue.filter((model) => model.downloads.length > 0 && downloadBytes(model) === undefined);
    expect(unsized.map(({ id }) => id)).toEqual(['zipformer-zh-en', 'qwen3-8b']);
  });

  it('a model whose archive holds eSpeak NG’s data does not hide the GPL', () => {
    const withData = catalogue.filter(({ files }) => files['dataDir'] === 'espeak-ng-data');
    expect(withData.map(({ id }) => id)).toEqual([
      'kokoro-v1.0',
      'kokoro-v1.1-int8',
      'piper-en-libritts',
      'zipvoice-zh-en',
    ]);
    for (const { licence } of withData) expect(licence).toContain('espeak-ng-data GPL-3.0');
  });

  it('a model that speaks Chinese by sherpa-onnx has the rules by which dates and numbers are spoken', () => {
    const chinese = catalogue.filter(
      ({ engine, languages }) => ['kokoro', 'matcha'].includes(String(engine?.['family'])) && languages.includes('zh'),
    );
    expect(chinese.map(({ id }) => id)).toEqual(['kokoro-v1.0', 'kokoro-v1.1-int8', 'matcha-zh-baker']);
    for (const { files } of chinese)
      expect(Object.keys(files)).toEqual(expect.arrayContaining(['phoneRules', 'dateRules', 'numberRules']));
  });

  it('every file that an engine loads is downloaded, or kept from an archive', () => {
    for (const { id, files, downloads: from } of catalogue) {
      if (from.length === 0) continue;
      const kept = from.flatMap(({ file, keep }) => keep ?? [file]).map((name) => name.replace(/\/$/, ''));
      expect([id, Object.values(files).filter((file) => !kept.includes(file))]).toEqual([id, []]);
    }
  });
});
