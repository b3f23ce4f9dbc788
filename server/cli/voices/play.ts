import { EngineError } from '../../../voices/engine.ts';
import { resample } from '../../../voices/dsp/resampler.ts';
import { pcm16FromFloats } from '../../../voices/audio.ts';
import { readWav } from '../../../voices/dsp/wav.ts';
import { wireSampleRate } from '../../protocol/limits.ts';
import { findPlayer, playToEnd, soundToolsRemedy } from '../talk/audio-tools.ts';
import { jsonText, printLine, wrap } from '../../terminal/text.ts';
import { nameFrom, referenceOf } from './show.ts';
import type { VoicesCommand } from './voices.ts';

/** `dramatis voices play ID`: plays the reference clip. */
export async function play({ store, names, json }: VoicesCommand): Promise<number> {
  const record = await store.read(nameFrom(names));
  const { file, transcript } = referenceOf(record);
  const wavPath = store.place(record.id, file);
  const { samples, sampleRate } = await readWav(wavPath);
  printLine(json ? jsonText({ file: wavPath, transcript }) : `${wavPath}\n${wrap(transcript, 0)}`);
  const player = findPlayer();
  if (player === undefined) {
    throw new EngineError('player', 'ENGINE_MISSING', `no audio player was found. ${soundToolsRemedy}`);
  }
  const status = await playToEnd(player, pcm16FromFloats(resample(samples, sampleRate, wireSampleRate)));
  if (status === 0) return 0;
  throw new EngineError(
    player,
    'ENGINE_UNAVAILABLE',
    `it failed with status ${status}. Is there an audio output? The clip is the file above.`,
  );
}
