import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { planEngines } from '../../../server/engines/engine-plan.ts';
import { presetIds, readPreset } from '../../../server/engines/engines-file.ts';
import { synthesizerKinds } from '../../../server/engines/voice-kinds.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'dramatis-presets-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Models whose vendors have ended them, or said when, by 2026-11-21. */
const ended = /^(gpt-4o(-mini)?-audio-preview|gpt-4o-realtime|gpt-realtime$|gpt-audio$|qwen3-omni-flash-2025-09-15)/;

describe('the presets', () => {
  it.each(presetIds)('%s says what it is and what it needs', (id) => {
    expect(readPreset(id)).toMatchObject({ title: expect.stringMatching(/\w/), needs: expect.stringMatching(/\w/) });
  });

  it.each(presetIds)('%s names its engines', (id) => {
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
  ])('%s offers %o in place of its voice', async (preset, variants) => {
    for (const { name, kind, settings } of planEngines({ preset, tts: variants }, {}).tts) {
      expect(variants).toContain(name);
      const { adapter } = (await synthesizerKinds[kind]?.()) ?? {};
      expect(adapter?.settings.safeParse(settings)).toMatchObject({ success: true });
    }
  });

  it('name the successor of a model that has ended', () => {
    expect(readPreset('gpt-4o-audio').historical).toEqual([
      { model: 'gpt-4o-audio-preview-2024-12-17', ended: '2026-05-07', successor: 'gpt-audio-1.5' },
    ]);
  });

  it.each(presetIds)('%s runs no model that has ended, and tells of each which one stands in for it', (id) => {
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

  it('print that where the server starts', { timeout: 60_000 }, async () => {
    const flags = ['--preset', 'gpt-4o-audio', '--port', '0', '--data-dir', folder, '--workers', '1'];
    const child = spawn(process.execPath, ['server/main.ts', 'serve', ...flags], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let printed = '';
    child.stdout.on('data', (piece: Buffer) => (printed += piece.toString()));
    try {
      await expect.poll(() => printed, { timeout: 50_000 }).toContain('Ctrl-C');
      // The lines are broken to fit the terminal.
      expect(printed.replaceAll(/\s+/g, ' ')).toContain(
        'gpt-4o-audio-preview-2024-12-17 was discontinued on 2026-05-07; the preset uses its successor, gpt-audio-1.5',
      );
      expect(printed).toContain('GPT-4o Audio needs a key of OpenAI in OPENAI_API_KEY');
    } finally {
      child.kill('SIGKILL');
    }
  });
});
