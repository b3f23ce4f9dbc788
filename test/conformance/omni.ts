import { describe, expect, it } from 'vitest';
import type { OmniMessage, OmniModel, OmniPart } from '../../voices/omni.ts';
import { tone } from '../fakes/vad.ts';
import { itLetsGo, itStopsWhenAborted, itSurvivesFaults, type Outcome, type Subject } from './upstream.ts';

export interface OmniSubject extends Subject<OmniModel> {
  /** The model's reply to anything. */
  readonly says: RegExp;
}

const persona = 'my private persona';
const messages: readonly OmniMessage[] = [
  { role: 'system', text: persona },
  { role: 'user', text: 'Good evening.' },
  { role: 'assistant', text: 'Good evening to you.' },
  { role: 'user', text: '', sound: { samples: tone(800, 16_000), sampleRate: 16_000 } },
];

/** Requirements on every `OmniModel`. A model behind a server must also survive the server's faults. */
export function omniConformance(subject: OmniSubject): void {
  const { title, says } = subject;

  describe(`${title} as an omni model`, () => {
    it('the omni model emits text and audio, then exactly one end', async () => {
      await using opened = await subject.open();
      expect(opened.engine.name).not.toBe('');
      const parts = await reply(opened.engine);
      expect(textOf(parts)).toMatch(says);
      expect(msOf(parts)).toBeGreaterThan(50);
      const ends = parts.map(({ type }) => type === 'omni-end');
      expect(ends).toEqual(parts.map((_, index) => index === parts.length - 1));
      for (const part of parts) if (part.type === 'text-delta') expect(part.text).not.toBe('');
      for (const part of parts) if (part.type === 'sound') expect(peakOf(part.samples)).toBeLessThanOrEqual(1);
    });

    it('the omni model emits only text if no audio is wanted', async () => {
      await using opened = await subject.open();
      const parts = await reply(opened.engine, false);
      expect(textOf(parts)).toMatch(says);
      expect(msOf(parts)).toBe(0);
    });

    it('the omni model serves two conversations at a time', async () => {
      await using opened = await subject.open();
      for (const parts of await Promise.all([reply(opened.engine), reply(opened.engine)])) {
        expect(textOf(parts)).toMatch(says);
      }
    });

    const call = (engine: OmniModel, signal: AbortSignal) =>
      engine.reply(messages, { signal, voice: 'coral', speaks: true });
    itStopsWhenAborted(subject, 'omni model', call);
    itLetsGo(subject, 'omni model', call);
  });

  if (subject.behindServer !== true) return;
  describe(`${title} over its protocol`, () => {
    itSurvivesFaults(subject, outcomeOf, [persona]);
  });
}

async function reply(engine: OmniModel, speaks = true): Promise<OmniPart[]> {
  const { signal } = new AbortController();
  return Array.fromAsync(engine.reply(messages, { signal, voice: 'coral', speaks }));
}

async function outcomeOf(engine: OmniModel): Promise<Outcome> {
  try {
    const parts = await reply(engine);
    return { delivered: `${textOf(parts)} ${Math.round(msOf(parts))} ms` };
  } catch (error) {
    return { delivered: '', error };
  }
}

function textOf(parts: readonly OmniPart[]): string {
  return parts.map((part) => (part.type === 'text-delta' ? part.text : '')).join('');
}

function msOf(parts: readonly OmniPart[]): number {
  return parts.reduce(
    (sum, part) => sum + (part.type === 'sound' ? (part.samples.length / part.sampleRate) * 1000 : 0),
    0,
  );
}

function peakOf(samples: Float32Array): number {
  return samples.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
}
