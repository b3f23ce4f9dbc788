import path from 'node:path';
import { existsSync } from 'node:fs';
import { linesIn } from '../runner/lines.ts';
import type { Recording } from './pipeline.ts';

/** Measured quality of the recordings of one side in one language; null where nothing was measured. */
export interface SpeechQualityOfSide {
  readonly side: 'user' | 'role';
  readonly language: 'en' | 'zh';
  readonly recordings: number;
  readonly minutes: number;
  /** Errors over all words, or characters in Chinese, and the recordings that they were counted in. */
  readonly wer: number | null;
  readonly heard: number;
  readonly dnsmos: number | null;
  readonly rated: number;
  readonly similarity: number | null;
  readonly compared: number;
  readonly retaken: number;
  readonly faulty: number;
}

interface Sums {
  recordings: number;
  seconds: number;
  edits: number;
  units: number;
  heard: number;
  dnsmos: number;
  rated: number;
  similarity: number;
  compared: number;
  retaken: number;
  faulty: number;
}

/** Reads `recordings.jsonl` of a build as a stream, and sums up its measurements. */
export async function speechQuality(folder: string): Promise<readonly SpeechQualityOfSide[]> {
  const sums = new Map<string, Sums>();
  const file = path.join(folder, 'recordings.jsonl');
  if (existsSync(file))
    for await (const { text } of linesIn(file)) {
      const { side, language, seconds, errors, dnsmos, similarity, takes, faults } = JSON.parse(text) as Recording;
      const key = `${side} ${language}`;
      const sum = sums.get(key) ?? empty();
      sums.set(key, sum);
      sum.recordings += 1;
      sum.seconds += seconds;
      sum.retaken += takes > 1 ? 1 : 0;
      sum.faulty += faults.length > 0 ? 1 : 0;
      if (errors !== null)
        [sum.edits, sum.units, sum.heard] = [sum.edits + errors.edits, sum.units + errors.units, sum.heard + 1];
      if (dnsmos !== null) [sum.dnsmos, sum.rated] = [sum.dnsmos + dnsmos, sum.rated + 1];
      if (similarity !== null) [sum.similarity, sum.compared] = [sum.similarity + similarity, sum.compared + 1];
    }
  return [...sums]
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, sum]) => {
      const [side, language] = key.split(' ') as [SpeechQualityOfSide['side'], SpeechQualityOfSide['language']];
      return {
        side,
        language,
        recordings: sum.recordings,
        minutes: round(sum.seconds / 60),
        wer: ratio(sum.edits, sum.units),
        heard: sum.heard,
        dnsmos: ratio(sum.dnsmos, sum.rated),
        rated: sum.rated,
        similarity: ratio(sum.similarity, sum.compared),
        compared: sum.compared,
        retaken: sum.retaken,
        faulty: sum.faulty,
      };
    });
}

function empty(): Sums {
  return {
    recordings: 0,
    seconds: 0,
    edits: 0,
    units: 0,
    heard: 0,
    dnsmos: 0,
    rated: 0,
    similarity: 0,
    compared: 0,
    retaken: 0,
    faulty: 0,
  };
}

function ratio(sum: number, count: number): number | null {
  return count === 0 ? null : round(sum / count);
}

function round(value: number): number {
  return Math.round(value * 1e4) / 1e4;
}
