import type { Character } from '../../../characters/character.ts';
import type { Config } from '../../config/config.ts';
import { missingVoices } from '../../engines/library-voice.ts';
import { withInstalledJudges, type InstalledSettings } from '../../engines/auto-engines.ts';
import { openEncoder, openMeter } from '../../engines/voice-models.ts';

/** One check, as the doctor prints it. */
export interface VoiceFinding {
  readonly what: string;
  readonly ok: boolean;
  readonly says: string;
  readonly remedy: string;
  readonly optional?: boolean;
}

type Judges = Pick<Config, 'speakerEncoder' | 'speakerEncoderHash' | 'dnsmos' | 'dnsmosP808'>;

const bring = 'README, “Voices”, lists the files; `dramatis models pull` downloads them.';
/** Remedy for models installed with `--auto`. */
const again = '`dramatis models verify` lists damaged models; `dramatis models pull ID --again` downloads one again.';
const second = { samples: new Float32Array(16_000).fill(0.01), sampleRate: 16_000, atMs: 0 };

/**
 * Runs the configured voice-judging models on one second of audio, and checks that voices named by cards exist. A
 * configured model that does not work is an error, because `serve` and `voices add` would fail with it; a missing card
 * voice is only a warning, because another is used instead.
 */
export async function checkVoices(
  given: InstalledSettings & Pick<Config, 'dataDir'> & Judges,
  characters: Iterable<Character>,
): Promise<VoiceFinding[]> {
  const config = withInstalledJudges(given);
  const findings: VoiceFinding[] = [];
  if (config.speakerEncoder !== undefined) {
    const remedy = given.speakerEncoder === undefined ? again : `Correct or unset DRAMATIS_SPEAKER_ENCODER. ${bring}`;
    findings.push(await tried('speaker encoder', remedy, (signal) => trySpeakers(config, signal)));
  }
  if (config.dnsmos !== undefined) {
    const mend = `Correct or unset DRAMATIS_DNSMOS and DRAMATIS_DNSMOS_P808. ${bring}`;
    const remedy = given.dnsmos === undefined ? again : mend;
    findings.push(await tried('quality', remedy, (signal) => tryQuality(config, signal)));
  } else if (config.dnsmosP808 !== undefined) {
    const says = 'DNSMOS P.808 does not work without P.835';
    findings.push({ what: 'quality', ok: false, says, remedy: 'Also set DRAMATIS_DNSMOS.' });
  }
  const missing = missingVoices(characters, config.dataDir).map((says): VoiceFinding => {
    return { what: 'voice', ok: false, says, remedy: '`dramatis voices list` lists the voices.', optional: true };
  });
  return [...findings, ...missing];
}

async function trySpeakers(config: Judges, signal: AbortSignal): Promise<string> {
  const encoder = await openEncoder(config, { signal });
  try {
    await encoder?.embed(second, { signal });
    return encoder?.name ?? '';
  } finally {
    await encoder?.close();
  }
}

async function tryQuality(config: Judges, signal: AbortSignal): Promise<string> {
  const meter = await openMeter({ ...config, workers: 1 }, { signal });
  try {
    await meter?.rate(second, { signal });
    return meter?.name ?? '';
  } finally {
    await meter?.close();
  }
}

async function tried(
  what: string,
  remedy: string,
  check: (signal: AbortSignal) => Promise<string>,
): Promise<VoiceFinding> {
  try {
    return { what, ok: true, says: await check(AbortSignal.timeout(60_000)), remedy };
  } catch (fault) {
    return { what, ok: false, says: fault instanceof Error ? fault.message : String(fault), remedy };
  }
}
