import { expect, it } from 'vitest';
import { gameOutcome, gameScenario } from '../game.ts';
import { play } from '../world.ts';

const wanted = 1_000;

it(`performs no unheard action in ${wanted} interrupted replies; \`npm run bench -- game\` plays 10,000`, async () => {
  let interrupted = 0;
  const wrong: string[] = [];
  for (let seed = 1; interrupted < wanted; seed += 1) {
    const outcome = gameOutcome(await play(gameScenario(seed)));
    interrupted += outcome.interrupted;
    wrong.push(...[...outcome.unheard, ...outcome.missed, ...outcome.believed].map((each) => `seed ${seed}: ${each}`));
  }
  expect(wrong).toEqual([]);
}, 900_000);
