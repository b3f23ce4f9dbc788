import { expect, it } from 'vitest';
import type { Character } from '../../../characters/character.ts';
import { lipSynced } from '../../../server/responders/lip-synced.ts';
import type { ReplyOptions, Responder, SpokenPart } from '../../../server/session/contract/responder.ts';
import type { MouthMovement } from '../../../voices/synthesizer.ts';
import { tone } from '../../fakes/vad.ts';

const exact: MouthMovement = { basis: 'engine', visemes: [{ viseme: 'aa', startMs: 0 }], phones: [] };

function speech(mouth?: MouthMovement, sampleRate = 24_000): SpokenPart {
  const frame = { samples: tone(100), sampleRate, atMs: 0 };
  return { type: 'speech', chunk: { frame, text: 'One.', ...(mouth && { mouth }) }, emotion: undefined };
}

function responder(parts: readonly SpokenPart[]): Responder {
  return {
    sampleRate: 16_000,
    async *listen() {},
    async *reply() {
      yield* parts;
    },
  };
}

async function basesOf(parts: readonly SpokenPart[]): Promise<(string | undefined)[]> {
  const said = await Array.fromAsync(
    lipSynced({ responderFor: () => responder(parts) })
      .responderFor({} as Character)
      .reply([], {} as ReplyOptions),
  );
  return said.map((part) => (part.type === 'speech' ? part.chunk.mouth?.basis : part.type));
}

it('finds the shapes in the audio if the engine reports none, and leaves everything else unchanged', async () => {
  const parts: SpokenPart[] = [{ type: 'reply-source', name: 'omni' }, speech(), speech(exact), speech()];
  expect(await basesOf(parts)).toEqual(['reply-source', 'sound', 'engine', 'sound']);
});

it('sends no shapes for audio that is too coarse to find them', async () => {
  expect(await basesOf([speech(undefined, 6_000)])).toEqual([undefined]);
});
