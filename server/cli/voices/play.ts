import { EngineError } from '../../../voices/engine.ts';
import { resample } from '../../../voices/dsp/resampler.ts';
import { pcm16FromFloats } from '../../../voices/audio.ts';
import { readWav } from '../../../voices/dsp/wav.ts';
import { wireSampleRate } from '../../protocol/limits.ts';
import { findPlayer, playToEnd, soundToolsRemedy } from '../talk/audio-tools.ts';
import { wrapped } from '../../terminal/table.ts';
import { nameFrom, referenceOf } from './show.ts';
import type { VoicesCommand } from './voices.ts';

/** `dramatis voices play ID`: plays the reference clip. */
export async function play({ store, names, json }: VoicesCommand): Promise<number> {
  const record = await store.read(nameFrom(names));
  const { file, transcript } = referenceOf(record);
  const wavPath = store.place(record.id, file);
  const { samples, sampleRate } = await readWav(wavPath);
  console.log(json ? JSON.stringify({ file: wavPath, transcript }) : `${wavPath}\n${wrapped(transcript, 0)}`);
  const player = findPlayer();
  if (player === undefined) {
    throw new EngineError('player', 'ENGINE_MISSING', `no program plays sound here. ${soundToolsRemedy}`);
  }
  const status = await playToEnd(player, pcm16FromFloats(resample(samples, sampleRate, wireSampleRate)));
  if (status === 0) return 0;
  throw new EngineError(
    player,
    'ENGINE_UNAVAILABLE',
    `it ended with status ${status}. Is there a loudspeaker here? The clip is the file above.`,
  );
}
