import { readFile } from 'node:fs/promises';
import { readAudioFile } from '../../voices/dsp/audio-file.ts';
import { readWav, wavBytes } from '../../voices/dsp/wav.ts';
import type { StoredOutputs } from '../speechrole/data/outputs.ts';
import type { DialogueAgent } from '../speechrole/data/dialogue-agent.ts';

/** An agent that replays stored answers: reads their recordings and makes no calls. */
export function storedAgent(name: string, outputs: StoredOutputs): DialogueAgent {
  return {
    name,
    async answer(sample, { audio, signal }) {
      const stored = await outputs.answersTo(sample.input);
      const answers = stored.map(async ({ text, speech }) => {
        const wav = await wavOf(speech, signal);
        const { samples, sampleRate } = await readWav(wav);
        return {
          text,
          heard: null,
          audio: await audio.keep(wav),
          seconds: samples.length / sampleRate,
          firstAudioMs: null,
          latency: null,
          mind: null,
        };
      });
      return { system: null, answers: await Promise.all(answers) };
    },
  };
}

/** Returns the file's bytes unchanged if it is a readable WAV, otherwise the recording converted to WAV. */
async function wavOf(file: string, signal: AbortSignal): Promise<Buffer> {
  if (/\.wav$/i.test(file)) {
    const bytes = await readFile(file);
    const readable = await readWav(bytes).then(
      () => true,
      () => false,
    );
    if (readable) return bytes;
  }
  const sound = await readAudioFile(file, { sampleRate: 24_000, signal });
  return wavBytes(sound.samples, sound.sampleRate);
}
