import { describe, expect, it } from 'vitest';
import { openClauses } from '../../../agents/guardrails/clauses.ts';
import { performanceScript } from '../../../agents/output/performance.ts';
import { speakerLabelFilter } from '../../../agents/output/speaker-labels.ts';
import { charactersRead } from '../../fakes/character-count.ts';

const hostile: Readonly<Record<string, string>> = {
  'open brackets': '(',
  'open square brackets': '[',
  'stars before words': '*a ',
  'line ends': '\n',
  'a bracket and spaces': '[    ',
  'clauses of one letter': 'a, ',
  'quotes after a mark': '."""',
};

function inDeltas(text: string, size: number): string[] {
  return Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
    text.slice(index * size, (index + 1) * size),
  );
}

function perform(text: string, size: number, form: 'marked' | 'spoken'): void {
  const words = speakerLabelFilter('Sherlock Holmes', ['Dr. Watson']);
  const script = performanceScript(form);
  const clauses = openClauses((sentence) => (/never said/u.test(sentence) ? 'style' : undefined));
  for (const delta of [...inDeltas(text, size), '']) {
    const parts = delta === '' ? [...script.add(words.rest()), ...script.rest()] : script.add(words.add(delta));
    for (const { text: said } of parts) clauses.add({ text: said });
  }
  clauses.rest();
}

describe('hostile reply of an LLM', () => {
  it.each(Object.entries(hostile))('a reply twice as long takes twice the work to read: %s', async (_, piece) => {
    for (const form of ['marked', 'spoken'] as const)
      for (const size of [4, 1_000_000]) {
        const work = await charactersRead(() => perform(`Narr${piece.repeat(4_000)}`, size, form));
        expect(await charactersRead(() => perform(`Narr${piece.repeat(8_000)}`, size, form))).toBeLessThan(work * 2.3);
      }
  });

  it('a bracket that never closes ends as a cue of a bounded length', () => {
    const script = performanceScript('marked');
    const parts = [...script.add(`(bows ${'a'.repeat(9_000)}`), ...script.rest()];
    expect(parts[0]).toMatchObject({ type: 'cue', kind: 'action' });
    expect(Math.max(...parts.map(({ text }) => text.length))).toBeLessThan(6_000);
  });
});
