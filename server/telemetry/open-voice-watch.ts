import type { Engines } from '../engines.ts';
import { openEncoder, type VoiceModelSettings } from '../voice-models.ts';
import { openVoiceWatch, type VoiceWatch, type VoiceWatchParts } from './voice-watch.ts';

/** The watch over the voices of a server; none where no speaker encoder is configured. */
export interface WatchedVoices {
  readonly voiceWatch: VoiceWatch | undefined;
  close(): Promise<void>;
}

/** Opens the encoder and the watch. `ENGINE_MISSING` where the encoder's file is not what it should be. */
export async function openWatchedVoices(
  config: VoiceModelSettings,
  engines: Pick<Engines, 'voiceOf' | 'summary'>,
  onFault: VoiceWatchParts['onFault'],
): Promise<WatchedVoices> {
  const encoder = await openEncoder(config, { signal: new AbortController().signal });
  if (encoder === undefined) return { voiceWatch: undefined, close: async () => undefined };
  const speaksByItself = engines.summary.some(({ stage }) => stage === 'omni');
  const voiceWatch = openVoiceWatch({
    encoder,
    voiceOf: (character) => (speaksByItself ? undefined : engines.voiceOf(character).voice),
    onFault,
  });
  return {
    voiceWatch,
    async close() {
      voiceWatch.close();
      await encoder.close();
    },
  };
}
