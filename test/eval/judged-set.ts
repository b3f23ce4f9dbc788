import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { wavBytes } from '../../voices/dsp/wav.ts';
import { seededRandom } from '../../eval/statistics.ts';
import { categories } from '../../eval/speechrole/judging/metrics.ts';
import { paperRoles } from '../../eval/speechrole/data/test-data.ts';

/** Half a second of a tone in noise, different each time. */
async function someSound(random: () => number, seconds = 0.5): Promise<Buffer> {
  const hertz = 100 + random() * 300;
  const samples = Float32Array.from(
    { length: seconds * 16_000 },
    (_, at) => 0.3 * Math.sin((2 * Math.PI * hertz * at) / 16_000) + 0.02 * (random() - 0.5),
  );
  return wavBytes(samples, 16_000);
}

/**
 * Writes a complete test set, with the answers of a system, made of short sounds: `roles` of the paper's 98, two
 * dialogues each in single and in multi (of two turns). Creates `test_data/` and `model_output/made-up/` in `folder`.
 */
export async function makeJudgedSet(
  folder: string,
  roles = 98,
): Promise<{ readonly data: string; readonly outputs: string }> {
  const random = seededRandom(392);
  const outputs = path.join(folder, 'model_output', 'made-up');
  const put = async (name: string, content: string | Buffer): Promise<void> => {
    const place = path.join(folder, name);
    await mkdir(path.dirname(place), { recursive: true });
    await writeFile(place, content);
  };
  const dialogue = async (role: string, mode: string, at: number) => {
    const turns = Array.from({ length: mode === 'single' ? 1 : 2 }, (_, turn) => turn);
    const speech = (side: string, turn: number): string =>
      `test_data/${mode}_turn_speech/${role}/${at + 1}_${role}_0_${turn}_${side}.wav`;
    const answer = (turn: number): string =>
      `model_output/made-up/${mode}_result/audio/${role}/${role}_${at}_${turn}.wav`;
    for (const turn of turns) {
      for (const name of [speech('user', turn), speech('role', turn), answer(turn)])
        await put(name, await someSound(random));
    }
    return {
      dialogue: turns.map((turn) => ({
        user: `Question ${turn + 1} for ${role}?`,
        role: 'As I always say.',
        user_speech_path: speech('user', turn),
        role_speech_path: speech('role', turn),
      })),
      context: '',
      system_prompt: `I want you to act like ${role} from somewhere.\nBe brief.`,
      category: categories[Math.floor(random() * categories.length)],
      answers: turns.map((turn) => ({
        turn,
        user_input: { text: `Question ${turn + 1} for ${role}?` },
        model_output: { text: 'So I say.', audio_path: answer(turn) },
      })),
    };
  };
  for (const role of Object.keys(paperRoles).slice(0, roles)) {
    for (const mode of ['single', 'multi']) {
      const two = [await dialogue(role, mode, 0), await dialogue(role, mode, 1)];
      await put(
        `test_data/${mode}_turn/${role}.json`,
        JSON.stringify(two.map(({ answers: _answers, ...rest }) => rest)),
      );
      const [first, second] = two;
      const output = { role, dialogue_0: first?.answers, dialogue_1: second?.answers };
      await put(`model_output/made-up/${mode}_result/json/${role}.json`, JSON.stringify(output));
    }
  }
  return { data: folder, outputs };
}
