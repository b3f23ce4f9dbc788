import * as fc from 'fast-check';

/**
 * fast-check with one seed for every run, so that a commit that passed once passes always. `DRAMATIS_TEST_SEED=random`
 * draws new cases, as a hunt for bugs wants; a number repeats a run that failed.
 */
const seed = process.env['DRAMATIS_TEST_SEED'] ?? '20261123';

if (seed !== 'random') fc.configureGlobal({ seed: Number(seed) });

export * from 'fast-check';
