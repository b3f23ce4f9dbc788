import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { openEmbeddedVoices } from '../../voices/synthesizers/embedded.ts';
import { writeWav } from '../../voices/dsp/wav.ts';
import { spoken } from '../fakes/spoken.ts';

interface SmallTurn {
  readonly user: string;
  readonly role: string;
}

const holmes = 'I want you to act like Sherlock Holmes from Sherlock-Holmes.';
const wukong = 'I want you to act like 孙悟空 from 西游记(Journey to the West).';
const script = 'The character script below contains context for your answers:\n[Character script]\n\n';

/** Two roles, one per language; two dialogues each in single, one in multi. Our own texts. */
const roles: readonly {
  readonly role: string;
  readonly gender: 'male' | 'female';
  readonly prompt: string;
  readonly single: readonly SmallTurn[];
  readonly multi: readonly SmallTurn[];
}[] = [
  {
    role: 'Sherlock Holmes',
    gender: 'male',
    prompt: `${holmes}\nSpeak as he would.\nYou are a detective in London.\n\n${script}HOLMES: You see, but you do not observe.`,
    single: [
      { user: 'What do you make of this letter?', role: 'It was written in haste, by a tall man.' },
      { user: 'Who is your best friend?', role: 'Doctor Watson, beyond any doubt.' },
    ],
    multi: [
      { user: 'Do you ever rest?', role: 'Only when there is no case.' },
      { user: 'And then?', role: 'Then I play the violin.' },
    ],
  },
  {
    role: 'wukong',
    gender: 'male',
    prompt: `${wukong}\n说话要像他。\n你是花果山的猴王。\n\n${script}孙悟空：「俺老孙来也。」`,
    single: [
      { user: '你怕什么？', role: '俺老孙什么都不怕。' },
      { user: '你的师父是谁？', role: '唐三藏是俺的师父。' },
    ],
    multi: [
      { user: '你会飞吗？', role: '一个筋斗十万八千里。' },
      { user: '累不累？', role: '不累，好玩得很。' },
    ],
  },
];

const categories = ['Opinion and Emotion Inquiry', 'Judgment of Others and Events', 'Skills and Abilities'];

/** Writes a data set in SpeechRole's format, spoken by our own engines: 6 dialogues, 8 turns. */
export async function makeSmallSet(folder: string): Promise<void> {
  const voices = openEmbeddedVoices();
  try {
    for (const { role, gender, prompt, single, multi } of roles) {
      const language = role === 'wukong' ? 'zh' : 'en';
      const dialogues = { single: single.map((turn) => [turn]), multi: [multi] };
      for (const [mode, list] of Object.entries(dialogues)) {
        const speech = path.join('test_data', `${mode}_turn_speech`, role);
        await mkdir(path.join(folder, speech), { recursive: true });
        const written = list.map(async (turns, at) => ({
          dialogue: await Promise.all(
            turns.map(async (turn, number) => {
              const name = (side: string): string => path.join(speech, `${at + 1}_${role}_0_${number}_${side}.wav`);
              const user = gender === 'male' ? 'female' : 'male';
              await say(turn.user, { voices, language, gender: user, file: path.join(folder, name('user')) });
              await say(turn.role, { voices, language, gender, file: path.join(folder, name('role')) });
              return { ...turn, user_speech_path: name('user'), role_speech_path: name('role') };
            }),
          ),
          context: 'script',
          system_prompt: prompt,
          category: categories[(at + turns.length) % categories.length],
        }));
        const place = path.join(folder, 'test_data', `${mode}_turn`);
        await mkdir(place, { recursive: true });
        await writeFile(path.join(place, `${role}.json`), JSON.stringify(await Promise.all(written), null, 2));
      }
    }
  } finally {
    await voices.close();
  }
}

async function say(
  text: string,
  how: {
    readonly voices: ReturnType<typeof openEmbeddedVoices>;
    readonly language: string;
    readonly gender: 'male' | 'female';
    readonly file: string;
  },
): Promise<void> {
  const { synthesizer, voice } = how.voices.forCharacter({ gender: how.gender });
  const { language, file } = how;
  await writeWav(file, await spoken(text, { synthesizer, voice, language, sampleRate: 24_000 }), 24_000);
}
