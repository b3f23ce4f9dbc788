import type { Character } from '../../characters/character.ts';
import type { Config } from '../config.ts';
import { missingVoices } from '../engine-config/library-voice.ts';
import { withInstalledJudges, type InstalledSettings } from '../engine-config/auto-engines.ts';
import { openVoiceModels } from '../voice-models.ts';

/** One thing looked at, as the doctor shows it. */
export interface VoiceFinding {
  readonly what: string;
  readonly ok: boolean;
  readonly says: string;
  readonly remedy: string;
  readonly optional: true;
}

const remedy = 'README, “Voices”, tells which files to bring.';

/** Looks at the models that judge voices, as far as they are configured, by one second of sound, and at the voices that cards name. */
export async function checkVoices(
  given: InstalledSettings &
    Pick<Config, 'dataDir' | 'speakerEncoder' | 'speakerEncoderHash' | 'dnsmos' | 'dnsmosP808'>,
  characters: Iterable<Character>,
): Promise<VoiceFinding[]> {
  const config = withInstalledJudges(given);
  const missing = missingVoices(characters, config.dataDir).map((says): VoiceFinding => {
    return { what: 'voice', ok: false, says, remedy: '`dramatis voices list` lists those there are.', optional: true };
  });
  if (config.speakerEncoder === undefined && config.dnsmos === undefined) return missing;
  return [await checkModels(config), ...missing];
}

async function checkModels(config: Parameters<typeof checkVoices>[0]): Promise<VoiceFinding> {
  const what = 'voice models';
  const signal = AbortSignal.timeout(60_000);
  try {
    const models = await openVoiceModels(config, { signal });
    const { encoder, meter } = models;
    const second = { samples: new Float32Array(16_000).fill(0.01), sampleRate: 16_000, atMs: 0 };
    try {
      await Promise.all([encoder?.embed(second, { signal }), meter?.rate(second, { signal })]);
    } finally {
      await models.close();
    }
    const says = [encoder?.name, meter?.name].filter((name) => name !== undefined).join(', ');
    return { what, ok: true, says, remedy, optional: true };
  } catch (fault) {
    return { what, ok: false, says: fault instanceof Error ? fault.message : String(fault), remedy, optional: true };
  }
}
