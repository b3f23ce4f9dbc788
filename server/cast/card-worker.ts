import { CharacterError } from '../../characters/character-error.ts';
import { readAssets, readPicture, readSource } from '../../characters/pack-folder.ts';
import { readCardJson } from '../../characters/tavern/card-file.ts';
import { fromPack } from '../../characters/tavern/from-pack.ts';
import { readCardBytes, withoutCard, writeCardBytes } from '../../characters/tavern/open-card.ts';
import { toPack } from '../../characters/tavern/to-pack.ts';
import { runInBackground } from '../../voices/runtime/background-thread.ts';
import type { CardJob, CardReply, CardWork } from './card-thread.ts';
import { readPack } from './pack-body.ts';

/** Work on one card, which others wrote: it may take any time and memory, so it has a thread. */
const work: CardWork = {
  async import({ bytes }) {
    const { card, ...files } = readCardBytes(bytes, 'card');
    const { notes, ...pack } = toPack(card, 'card');
    return { pack: { ...files, ...pack, source: JSON.stringify(card.whole) }, notes };
  },
  async export({ folder, card, lines, clip, format, spec }) {
    const [source, picture, files] = await Promise.all([readSource(folder), readPicture(folder), readAssets(folder)]);
    const tavern = fromPack({ card, lines, clip }, source === undefined ? undefined : readCardJson(source, card.id));
    return writeCardBytes({ card: tavern, files, ...(picture === undefined ? {} : { picture }) }, format, spec);
  },
  picture: async ({ bytes }) => withoutCard(bytes, 'picture'),
  pack: async ({ bytes }) => readPack(new TextDecoder().decode(bytes)),
};

runInBackground();

/** Does one job. A fault that is not the card's rejects, and the server logs it. */
export default async function read(job: CardJob): Promise<CardReply> {
  try {
    const run = work[job.kind] as (given: CardJob) => Promise<unknown>;
    return { reply: await run(job) };
  } catch (fault) {
    if (!(fault instanceof CharacterError)) throw fault;
    return { refused: fault.message };
  }
}
