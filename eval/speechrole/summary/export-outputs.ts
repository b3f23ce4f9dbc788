import { copyFile, mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { RunView } from '../run-view.ts';
import { writeFileAtomic } from '../../../voices/runtime/write-file-atomic.ts';

/**
 * Writes the system's answers in the form that SpeechRole's own judge reads: `{single,multi}_result/json/<role>.json`
 * beside the recordings, whose paths begin with `model_output/<name>`. `folder` should be such a folder. Skips
 * dialogues with any answer that has no audio. Resolves to the number of dialogues written.
 */
export async function writeOutputs(view: RunView, folder: string): Promise<number> {
  const name = path.basename(folder);
  let written = 0;
  for (const members of Map.groupBy(view.facts, ([, { mode, role }]) => `${mode}/${role}`).values()) {
    const [, { mode, role }] = members[0] as (typeof members)[number];
    const place = path.join(`${mode}_result`, 'audio', role);
    const dialogues: Record<string, object[]> = {};
    for (const [id, { index, turns }] of members) {
      const answers = view.outputOf(id)?.answers ?? [];
      if (answers.length < turns.length || answers.some(({ audio }) => audio === null)) continue;
      await mkdir(path.join(folder, place), { recursive: true });
      dialogues[`dialogue_${index}`] = await Promise.all(
        answers.map(async ({ text, audio }, turn) => {
          const file = path.join(place, `${role}_${index}_${turn}.wav`);
          await copyFile(view.audio.pathOf(audio as string), path.join(folder, file));
          const audioPath = ['model_output', name, ...file.split(path.sep)].join('/');
          return { turn, user_input: { text: turns[turn]?.text ?? '' }, model_output: { text, audio_path: audioPath } };
        }),
      );
      written += 1;
    }
    const file = path.join(folder, `${mode}_result`, 'json', `${role}.json`);
    await writeFileAtomic(file, `${JSON.stringify({ role, ...dialogues }, null, 4)}\n`);
  }
  return written;
}
