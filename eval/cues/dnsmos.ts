import type { QualityMeter } from '../../voices/quality/dnsmos.ts';
import { mean } from '../statistics.ts';
import type { Cue } from './cue.ts';

export const dnsmosUnits = {
  overall: 'DNSMOS P.835, all in all, 1 to 5',
  signal: 'DNSMOS P.835, the speech itself',
  background: 'DNSMOS P.835, the background',
} as const;

/** Detects noise, clipping and dead air; does not measure how natural the speech is. */
export function dnsmosCue(meter: QualityMeter): Cue {
  return {
    name: 'dnsmos',
    units: dnsmosUnits,
    async measure({ replies }, options) {
      const rated: Awaited<ReturnType<QualityMeter['rate']>>[] = [];
      for (const { sound } of replies) rated.push(await meter.rate(sound, options));
      const of = (key: keyof typeof dnsmosUnits): number | null => mean(rated.map((each) => each[key]));
      return { values: { overall: of('overall'), signal: of('signal'), background: of('background') } };
    },
  };
}
