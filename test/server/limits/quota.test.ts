import { describe, expect, it } from 'vitest';
import { Quota } from '../../../server/limits/quota.ts';

describe('Quota', () => {
  it('refuses what would exceed the bound of a key or of all keys, and takes it again once something was given back', () => {
    const quota = new Quota({ total: 5, perKey: 3 });
    const give = quota.take('a', 3);
    expect(quota.take('a')).toBe('key');
    expect(quota.take('b', 2)).toBeTypeOf('function');
    expect(quota.take('c')).toBe('total');
    if (typeof give !== 'function') throw new Error('nothing was taken');
    give();
    give();
    expect(quota.total).toBe(2);
    expect(quota.take('a', 3)).toBeTypeOf('function');
  });

  it('counts what has no key in all only', () => {
    const quota = new Quota({ total: 4, perKey: 1 });
    for (let count = 0; count < 4; count += 1) expect(quota.take(undefined)).toBeTypeOf('function');
    expect(quota.take(undefined)).toBe('total');
  });
});
