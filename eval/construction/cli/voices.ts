import {
  numberFlag,
  parseFlags,
  requireFlag,
  textFlag,
  UsageError,
  type FlagFacts,
} from '../../../server/terminal/flags.ts';
import { EvalError } from '../../eval-error.ts';
import { machineClock } from '../../limits.ts';
import { readCast, roleNamed, type Cast } from '../role-voices/cast.ts';
import { roleVoicesPipeline } from '../role-voices/pipeline.ts';
import { separatorOf } from '../role-voices/separate.ts';
import { runBuild, type BuildReport } from '../runner/build.ts';
import { openPrompts } from '../runner/prompts.ts';
import type { DataHost } from './host.ts';
import { modelsIn, pricesIn } from './models.ts';
import { reportText } from './report-text.ts';

const flags = {
  cast: { type: 'string', value: 'FILE', help: 'JSON: {"work", "roles": [{"name", "aliases", "key", "about"}]}' },
  out: { type: 'string', value: 'DIR', help: 'folder of the build; the same command continues one that was stopped' },
  rights: { type: 'string', value: 'TEXT', help: 'rights to the recordings' },
  consent: { type: 'string', value: 'TEXT', help: 'who allowed the cloning of these voices, and the evidence for it' },
  model: {
    type: 'string',
    value: '[STAGE=]URL#NAME,…',
    help: 'two models say who speaks: identify-1=URL#A,identify-2=URL#B',
  },
  decided: {
    type: 'string',
    value: 'ROLE=N,…',
    help: 'speakers in decide.json by role, for those on whom the models disagree',
  },
  separate: {
    type: 'string',
    value: 'COMMAND',
    help: 'command that removes music and noise first, with {in} and {out}',
  },
  'min-quality': { type: 'string', value: 'MOS', help: 'lowest DNSMOS of a reference clip (default 2.5)' },
  paper: { type: 'boolean', help: 'use the paper’s quality threshold: DNSMOS 3' },
  'key-env': { type: 'string', value: 'NAME', help: 'environment variable that contains the models’ key' },
  prices: { type: 'string', value: 'IN,OUT', help: 'US dollars per million tokens, for --max-cost' },
  'max-cost': { type: 'string', value: 'USD', help: 'stop when the calls have cost this much' },
  prompts: { type: 'string', value: 'DIR', help: 'folder of prompts that replace the built-in ones of the same name' },
  concurrency: { type: 'string', value: 'N', help: 'concurrent recordings (default 2)' },
  retries: { type: 'string', value: 'N', help: 'retries of failed calls (default 4)' },
} as const satisfies Record<string, FlagFacts>;

/** `dramatis data voices RECORDING… --cast FILE --out DIR`. */
export async function run(args: readonly string[], host: DataHost): Promise<number> {
  const about =
    'Cuts recordings of films, shows and plays into clips of speech, groups them by speaker, asks two models who the ' +
    'speakers are, and ranks the clips of each role. `data speak --role-voices DIR/role_voices` clones them.';
  const command = {
    name: 'data voices',
    synopsis: 'RECORDING… --cast FILE --out DIR',
    about,
    flags,
    settings: 'accepted',
  };
  const parsed = parseFlags({ ...command, settings: 'accepted' }, args, host.print);
  if (parsed === undefined) return 0;
  const { values, positionals } = parsed;
  if (positionals.length === 0) throw new UsageError('Name recordings, or a folder with recordings.');
  const castFile = requireFlag(values.cast, 'cast');
  const consent = requireFlag(values.consent, 'consent');
  const rights = `${requireFlag(values.rights, 'rights')}; consent to clone: ${consent}`;
  const out = requireFlag(values.out, 'out');
  const model = requireFlag(values.model, 'model');
  const separate = textFlag(values.separate);
  const leastQuality =
    numberFlag(values['min-quality'], 'min-quality', { min: 1, max: 5 }) ?? (values.paper === true ? 3 : 2.5);
  const concurrency = numberFlag(values.concurrency, 'concurrency', { min: 1, max: 64, isWhole: true }) ?? 2;
  const retries = numberFlag(values.retries, 'retries', { min: 0, isWhole: true });
  const prices = pricesIn(textFlag(values.prices));
  const decided = decidedIn(textFlag(values.decided), await readCast(castFile));
  const bounds = { maxDollars: numberFlag(values['max-cost'], 'max-cost', { min: 0 }), concurrency, rights };
  const settings = { ...parsed.settings, ...parsed.secrets };
  const studio = await host.openStudio({ settings, voices: {}, references: {} });
  try {
    const pipeline = roleVoicesPipeline({
      input: positionals,
      cast: castFile,
      studio,
      promptOf: openPrompts(textFlag(values.prompts)),
      leastQuality,
      decided,
      separator: separate === undefined ? undefined : separatorOf(separate),
    });
    const stages = pipeline.stages.map(({ name }) => name);
    const report = await runBuild(pipeline, {
      folder: out,
      modelOf: modelsIn(
        { model, keyName: textFlag(values['key-env']), retries },
        { concurrency, prices, stages },
        host,
      ),
      clock: machineClock,
      signal: host.signal,
      ...bounds,
    });
    return tell(report, host);
  } finally {
    await studio.close();
  }
}

/** Prints the outcome of a build. Returns the exit status. */
function tell(report: BuildReport, host: DataHost): number {
  host.print(reportText(report));
  const isOpen = report.stages.some(({ counted }) => 'speaker to be decided by people' in counted);
  if (isOpen) host.print('Listen to the clips of decide.json, and run again with --decided "ROLE=SPEAKER".');
  const isFailed = report.stopped !== null || report.stages.some(({ failed }) => failed > 0);
  return isFailed ? 1 : 0;
}

function decidedIn(text: string | undefined, cast: Cast): ReadonlyMap<string, number> {
  const pairs = (text ?? '').split(',').filter((part) => part.trim() !== '');
  return new Map(
    pairs.map((part) => {
      const [, name = '', number = ''] = /^(.+)=\s*(\d+)\s*$/.exec(part.trim()) ?? [];
      const role = roleNamed(name, cast);
      if (role === undefined)
        throw new EvalError('usage', `--decided: "${part}" must be ROLE=SPEAKER, with a role of the cast.`);
      return [role.name, Number(number)] as const;
    }),
  );
}
