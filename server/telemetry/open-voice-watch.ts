import type { Engines } from '../engines/engines.ts';
import { openVoiceWatch, type VoiceWatch, type VoiceWatchParts } from './voice-watch.ts';

/** Opens the voice watch of a server; undefined without a speaker encoder. */
export function watchVoices(
  engines: Pick<Engines, 'voiceOf' | 'summary' | 'speakerEncoder'>,
  onFault: VoiceWatchParts['onFault'],
): VoiceWatch | undefined {
  const { speakerEncoder: encoder } = engines;
  if (encoder === undefined) return undefined;
  const speaksByItself = engines.summary.some(({ stage }) => stage === 'omni');
  return openVoiceWatch({
    encoder,
    voiceOf: (character) => (speaksByItself ? undefined : engines.voiceOf(character).voice),
    onFault,
  });
}
