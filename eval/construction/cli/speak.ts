import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { slugOf } from '../../../characters/slug.ts';
import {
  numberFlag,
  onlyPositional,
  parseFlags,
  requireFlag,
  textFlag,
  type FlagFacts,
} from '../../../server/terminal/flags.ts';
import { EvalError } from '../../eval-error.ts';
import type { HostedReference } from '../../host.ts';
import { machineClock, openEndpoint } from '../../limits.ts';
import { readRoleClips } from '../../speechrole/data/character-packs.ts';
import { seededRandom } from '../../statistics.ts';
import { dialoguesIn } from '../records/dialogue-file.ts';
import { runBuild } from '../runner/build.ts';
import { speechPipeline } from '../speech/pipeline.ts';
import { speechQuality } from '../speech/quality.ts';
import { speakerVoices, type SpeakerVoices } from '../speech/studio.ts';
import type { DataHost } from './host.ts';
import { reportText } from './report-text.ts';

const flags = {
  out: { type: 'string', value: 'DIR', help: 'folder to write to; the same command continues one that was stopped' },
  voices: {
    type: 'string',
    value: 'FILE',
    help: 'JSON: voices by speaker as in cards, such as {"User": {"flite": {"id": "slt"}}}; * means all others',
  },
  'role-voices': { type: 'string', value: 'DIR', help: 'clips to clone: KEY.wav of each role, and audios_text.json' },
  consent: { type: 'string', value: 'TEXT', help: 'who allowed the cloning of these clips, and the evidence for it' },
  retakes: { type: 'string', value: 'N', help: 'retries of a faulty recording (default 3)' },
  'most-errors': { type: 'string', value: 'RATE', help: 'highest accepted word error rate (default 0.5)' },
  'min-quality': { type: 'string', value: 'MOS', help: 'lowest accepted DNSMOS, 1 to 5 (default 2.5; paper: 3)' },
  'min-similarity': {
    type: 'string',
    value: 'COSINE',
    help: 'lowest accepted cosine similarity to the cloned clip (default 0.3)',
  },
  references: { type: 'string', value: 'N', help: 'recordings of each answer of the test data, 1 to 3 (default 1)' },
  concurrency: { type: 'string', value: 'N', help: 'concurrent recordings (default 2)' },
  retries: { type: 'string', value: 'N', help: 'retries of failed calls (default 4)' },
  limit: { type: 'string', value: 'N', help: 'only the first N dialogues' },
} as const satisfies Record<string, FlagFacts>;

/** `dramatis data speak DIR --out DIR`. */
export async function run(args: readonly string[], host: DataHost): Promise<number> {
  const about =
    'Speaks both sides of a build’s dialogues with the configured engines, measures every recording (word errors, ' +
    'DNSMOS, similarity to the cloned clip), and repeats faulty ones. Existing recordings are kept.';
  const command = { name: 'data speak', synopsis: 'DIR --out DIR', about, flags, settings: 'accepted' } as const;
  const parsed = parseFlags(command, args, host.print);
  if (parsed === undefined) return 0;
  const { values } = parsed;
  const input = onlyPositional(parsed.positionals, 'the folder of a build');
  const out = requireFlag(values.out, 'out');
  const count = (flag: keyof typeof flags, most = 1_000_000): number | undefined =>
    numberFlag(values[flag], flag, { min: 1, max: most, isWhole: true });
  const concurrency = count('concurrency', 256) ?? 2;
  const bounds = {
    mostErrors: numberFlag(values['most-errors'], 'most-errors', { min: 0 }) ?? 0.5,
    leastQuality: numberFlag(values['min-quality'], 'min-quality', { min: 1, max: 5 }) ?? 2.5,
    leastSimilarity: numberFlag(values['min-similarity'], 'min-similarity', { min: -1, max: 1 }) ?? 0.3,
  };
  const retakes = numberFlag(values.retakes, 'retakes', { min: 0, max: 20, isWhole: true }) ?? 3;
  const references = count('references', 3) ?? 1;
  const retries = numberFlag(values.retries, 'retries', { min: 0, isWhole: true }) ?? 4;
  const limit = count('limit');
  const { rights, clips } = await factsOf(input, textFlag(values['role-voices']), textFlag(values.consent));
  const studio = await host.openStudio({
    settings: { ...parsed.settings, ...parsed.secrets },
    voices: await voicesIn(textFlag(values.voices)),
    references: clips,
  });
  try {
    const endpoint = openEndpoint('speech', { concurrency, retries }, { clock: machineClock, random: seededRandom(7) });
    const pipeline = speechPipeline({ input, studio, endpoint, bounds, retakes, references });
    const report = await runBuild(pipeline, {
      folder: out,
      modelOf: (stage) => {
        throw new EvalError('usage', `The stage ${stage} uses no model.`);
      },
      clock: machineClock,
      signal: host.signal,
      concurrency,
      rights,
      limit,
      onProgress: (_, done) => {
        if (done % 100 === 0 && done > 0) host.note(`${done} dialogues spoken`);
      },
    });
    host.print(reportText(report));
    host.print(await qualityText(out));
    const isFailed = report.stopped !== null || report.stages.some(({ failed }) => failed > 0);
    if (isFailed) host.print('Run the same command again to continue. Recordings so far are kept.');
    return isFailed ? 1 : 0;
  } finally {
    await studio.close();
  }
}

async function voicesIn(file: string | undefined): Promise<SpeakerVoices> {
  if (file === undefined) return {};
  try {
    return speakerVoices.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (cause) {
    const why = cause instanceof z.ZodError ? `: ${cause.issues[0]?.path.join('.')} ${cause.issues[0]?.message}` : '';
    throw new EvalError('data', `--voices: ${file} is not JSON with voices by speaker${why}.`, cause);
  }
}

/** Rights that the dialogues declare, and the clips of their roles. */
async function factsOf(
  input: string,
  folder: string | undefined,
  consent: string | undefined,
): Promise<{ readonly rights: string; readonly clips: Readonly<Record<string, HostedReference>> }> {
  if (folder !== undefined && consent === undefined)
    throw new EvalError('usage', '--consent is required with --role-voices: say who allowed the cloning.');
  const rights = new Set<string>();
  const roles = new Map<string, { readonly input: { readonly role: string; readonly language: 'en' | 'zh' } }>();
  for await (const { rights: declared, labels, language } of dialoguesIn(input)) {
    rights.add(declared);
    const key = labels?.['key'];
    if (typeof key === 'string') roles.set(key, { input: { role: key, language } });
  }
  const found = folder === undefined ? [] : [...(await readRoleClips(folder, roles.values()))];
  if (folder !== undefined && found.length === 0)
    throw new EvalError('data', `--role-voices: ${folder} has no clip of a role in ${input}.`);
  return {
    rights: [...rights].sort().join('; '),
    clips: Object.fromEntries(found.map(([key, clip]) => [slugOf(key), { ...clip, consent: consent ?? '' }])),
  };
}

async function qualityText(folder: string): Promise<string> {
  const shown = (value: number | null, of: number, all: number): string =>
    value === null ? 'not measured' : `${value.toFixed(3)}${of < all ? ` (${of} of ${all})` : ''}`;
  const rows = (await speechQuality(folder)).map((side) => {
    const all = side.recordings;
    const facts = [
      `${all} recordings, ${side.minutes.toFixed(1)} min`,
      `${side.language === 'zh' ? 'CER' : 'WER'} ${shown(side.wer, side.heard, all)}`,
      `DNSMOS ${shown(side.dnsmos, side.rated, all)}`,
      `similarity ${shown(side.similarity, side.compared, all)}`,
      `${side.retaken} retaken, ${side.faulty} with a fault (faulty.jsonl)`,
    ];
    return `  ${side.side} ${side.language}`.padEnd(12) + facts.join('; ');
  });
  return rows.join('\n');
}
