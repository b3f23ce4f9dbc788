import { describe, expect, it } from 'vitest';
import { planEngines } from '../../../server/engines/engine-plan.ts';
import { presetIds, readPreset } from '../../../server/engines/engines-file.ts';
import { synthesizerKinds } from '../../../server/engines/voice-kinds.ts';

/** Models whose vendors have ended them, or said when, by 2026-11-21. */
const ended = /^(gpt-4o(-mini)?-audio-preview|gpt-4o-realtime|gpt-realtime$|gpt-audio$|qwen3-omni-flash-2025-09-15)/;

describe('presets', () => {
  it.each(presetIds)('describes the preset %s and its requirements', (id) => {
    expect(readPreset(id)).toMatchObject({ title: expect.stringMatching(/\w/), needs: expect.stringMatching(/\w/) });
  });

  it.each(presetIds)('plans the engines of the preset %s', (id) => {
    const { asr, llm, tts, omni } = planEngines({ preset: id }, { DASHSCOPE_API_KEY: 'k', OPENAI_API_KEY: 'k' });
    if (omni.length > 0) expect(omni).toHaveLength(1);
    else expect([asr, llm, tts].map((chain) => chain.length)).toEqual([1, 1, 1]);
  });

  it.each([
    ['f5-tts', ['f5-triton', 'f5-server', 'f5-page']],
    ['e2-tts', ['e2-server', 'e2-page']],
    ['spark-tts', ['spark-triton', 'spark-page']],
    ['maskgct', ['maskgct-page']],
    ['cosyvoice2', ['cosyvoice2-triton']],
  ])('offers in the preset %s the alternative voices %o', async (preset, variants) => {
    for (const { name, kind, settings } of planEngines({ preset, tts: variants }, {}).tts) {
      expect(variants).toContain(name);
      const { adapter } = (await synthesizerKinds[kind]?.()) ?? {};
      expect(adapter?.settings.safeParse(settings)).toMatchObject({ success: true });
    }
  });

  it('names the successor of a discontinued model', () => {
    expect(readPreset('gpt-4o-audio').historical).toEqual([
      { model: 'gpt-4o-audio-preview-2024-12-17', ended: '2026-05-07', successor: 'gpt-audio-1.5' },
    ]);
  });

  it.each(presetIds)('runs in the preset %s no discontinued model and reports each replacement', (id) => {
    const { engines, historical, needs } = readPreset(id);
    const { notes } = planEngines({ preset: id }, {});
    expect(notes[0]).toContain(needs);
    expect(notes.slice(1)).toHaveLength(historical.length);
    const models = Object.values(engines).map((engine) => engine['model']);
    for (const [index, { model, ended, successor }] of historical.entries()) {
      expect(models).toContain(successor);
      expect(notes[index + 1]).toBe(
        `${model} was discontinued on ${ended}; the preset uses its successor, ${successor}`,
      );
    }
    expect(models.filter((model) => ended.test(String(model)))).toEqual([]);
  });
});
