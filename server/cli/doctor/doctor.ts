import { access, constants } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { Config } from '../../config/config.ts';
import { makeDataDir } from '../../config/data-dir.ts';
import { engineList } from '../../terminal/stage-names.ts';
import { planEngines } from '../../engines/engine-plan.ts';
import { openEngines } from '../../engines/engines.ts';
import { readCast, readCharacters } from '../../cast/cast.ts';
import { checkEmbeddings, checkPlannedEngines, type EngineFinding } from './engines.ts';
import { checkVoices } from './voices.ts';
import { checkPostgres } from '../memory-database.ts';
import { connectRemedy } from '../scripted-note.ts';
import { findPlayer, findRecorder, playToEnd, soundToolsRemedy, tryRecorder } from '../talk/audio-tools.ts';
import { parseCommand } from '../../terminal/commands.ts';
import { requireNone } from '../../terminal/flags.ts';
import { table } from '../../terminal/table.ts';
import { openProviderResults } from '../../engines/provider-results.ts';
import { follows, isWorthwhile } from '../../gpu/select-providers.ts';
import { findingOf, trialsOf, runTrial, type GpuFinding } from '../../gpu/trials.ts';
import { findFfmpeg } from '../../../voices/dsp/ffmpeg.ts';
import { providers } from '../../../voices/onnx/execution.ts';
import { wireSampleRate } from '../../protocol/limits.ts';
import { jsonText, printLine, wrap } from '../../terminal/text.ts';

/** One check. `optional`: the server works even if it fails. */
interface Finding {
  readonly what: string;
  readonly ok: boolean;
  readonly says: string;
  readonly remedy?: string;
  readonly optional?: boolean;
}

/** A recorder that has given nothing by then has no microphone. */
const soundTimeoutMs = 5_000;

/** `dramatis doctor`: checks the installation; exit status 1 if something required is broken. */
export async function run(args: string[]): Promise<number> {
  const parsed = parseCommand('doctor', '[--gpu] [--json]', args, {
    json: { type: 'boolean', help: 'print one JSON array' },
    gpu: { type: 'boolean', help: 'run each model on each execution provider (CUDA, WebGPU, CPU) and compare' },
  });
  if (parsed === undefined) return 0;
  requireNone(parsed.positionals);
  const { config } = parsed;
  if (parsed.values.gpu === true) {
    const tried = await checkProviders(config);
    printLine(parsed.values.json === true ? jsonText(tried, 2) : gpuTable(tried));
    return tried.some(({ provider, ok }) => provider === 'cpu' && !ok) ? 1 : 0;
  }
  const findings: Finding[] = [];
  for (const check of [
    checkNode,
    checkCharacters,
    checkEngines,
    checkData,
    checkMemories,
    checkPort,
    checkSound,
    checkFfmpeg,
    checkServers,
    checkCast,
  ]) {
    for (const finding of await check(config)) {
      findings.push(finding);
      if (parsed.values.json !== true) print(finding);
    }
  }
  if (parsed.values.json === true) printLine(jsonText(findings, 2));
  return findings.some((finding) => !finding.ok && finding.optional !== true) ? 1 : 0;
}

function print({ what, ok, says, remedy, optional }: Finding): void {
  const line = `${ok ? '✓' : optional === true ? '–' : '✗'} ${what.padEnd(16)} ${says}`;
  // A terminal gets lines that fit; a file gets each finding in one line.
  const fit = process.stdout.isTTY ? wrap : (text: string) => text;
  printLine(fit(line, 19));
  if (!ok && remedy !== undefined) printLine(fit(`  ${' '.repeat(16)} → ${remedy}`, 21));
}

async function checkNode(): Promise<Finding[]> {
  const major = Number(process.versions.node.split('.')[0]);
  const remedy = 'Run through npm (`npm start`, `npm run dramatis`), which uses the Node 24 that npm ci installed.';
  return [{ what: 'Node', ok: major >= 24, says: process.version, remedy }];
}

async function checkCharacters(config: Config): Promise<Finding[]> {
  const what = 'characters';
  const remedy = 'Repair the file named in the message, or remove the character (`dramatis characters remove ID`).';
  const leftOut: string[] = [];
  const findings = await tried(what, remedy, async () => {
    const cast = [...(await readCast(config, (line) => leftOut.push(line))).values()];
    const characters = cast.filter(({ stage }) => stage === undefined);
    const pairs = characters.reduce((sum, character) => sum + character.lines.length, 0);
    return `${characters.length} characters, ${pairs} example lines, ${cast.length - characters.length} scenes`;
  });
  return [...findings, ...leftOut.map((line) => ({ what, ok: false, says: `skipped: ${line}`, remedy }))];
}

async function checkEngines(config: Config): Promise<Finding[]> {
  const { workers } = config;
  const engines = await openEngines({ workers });
  const startMs = performance.now();
  const remedy = 'Run `npm ci` again; the engines are npm packages.';
  const findings = await tried('embedded', remedy, async () => {
    await engines.warm(AbortSignal.timeout(60_000));
    return `${engineList(engines.summary)} (loaded in ${((performance.now() - startMs) / 1000).toFixed(1)} s)`;
  });
  await engines.close();
  const chinese = engines.summary.some(
    (engine) => engine.stage === 'synthesizer' && engine.languages?.includes('zh') === true,
  );
  const says = chinese ? 'eSpeak NG is installed' : 'eSpeak NG is not installed: the embedded TTS speaks only English';
  return [
    ...findings,
    { what: 'languages', ok: chinese, says, remedy: 'Run `npm ci` without --omit=optional.', optional: true },
  ];
}

async function checkData(config: Config): Promise<Finding[]> {
  return tried('data folder', 'Set DRAMATIS_DATA_DIR to a writable folder.', async () => {
    makeDataDir(config.dataDir);
    await access(config.dataDir, constants.W_OK);
    return config.dataDir;
  });
}

/** Opens the memories in PostgreSQL, as the server does: that also creates or updates their tables. */
async function checkMemories(config: Config): Promise<Finding[]> {
  if (config.postgresUrl === undefined) return [];
  const remedy =
    'Start PostgreSQL 14 or later, and set DRAMATIS_POSTGRES_URL to a database of a user who may create tables.';
  return tried('memories', remedy, async () => {
    const { version } = await checkPostgres(config);
    const sealed = config.memoryKeysUrl === undefined ? '' : ', sealed with keys in Redis';
    return `in PostgreSQL${sealed}; its tables are up to date (version ${version})`;
  });
}

async function checkPort(config: Config): Promise<Finding[]> {
  const remedy = 'Stop the program that uses the port, or set PORT to another one.';
  return tried('port', remedy, async () => {
    const probe = createServer();
    await new Promise<void>((resolve, reject) => {
      probe.once('error', reject);
      probe.listen(config.port, config.host, resolve);
    });
    await new Promise((resolve) => probe.close(resolve));
    return `${config.host}:${config.port} is free`;
  });
}

/** Opens both devices: an installed program says nothing about a microphone. */
async function checkSound(): Promise<Finding[]> {
  const recorder = findRecorder();
  const player = findPlayer();
  const checks = [
    soundFinding('audio recorder', recorder, async (program) => {
      await tryRecorder(program, AbortSignal.timeout(soundTimeoutMs));
      return `${program} hears the microphone`;
    }),
    soundFinding('audio player', player, async (program) => {
      const status = await playToEnd(program, new Uint8Array(wireSampleRate / 5));
      if (status !== 0) throw new Error(`${program} failed with status ${status}`);
      return `${program} plays`;
    }),
  ];
  return Promise.all(checks);
}

async function soundFinding<Program extends string>(
  what: string,
  program: Program | undefined,
  check: (program: Program) => Promise<string>,
): Promise<Finding> {
  const only = 'only needed by `dramatis talk`, not by the web page';
  if (program === undefined)
    return { what, ok: false, says: `none found; ${only}`, remedy: soundToolsRemedy, optional: true };
  const remedy = `Connect the device, or choose it in the system’s sound settings; ${only}.`;
  const [finding] = await tried(what, remedy, () => check(program));
  return { what, ok: false, says: '', ...finding, optional: true };
}

async function checkFfmpeg(): Promise<Finding[]> {
  const what = 'ffmpeg';
  const remedy = 'Install ffmpeg 5.1 or later with your system’s package manager; only WAV works without it.';
  return tried(what, remedy, async () => {
    const { path, version, isBundled, prlimit } = await findFfmpeg();
    const which = isBundled
      ? `the bundled one of 2018 (${version}); 5.1 or later on PATH is preferred`
      : `${version} at ${path}`;
    return `${which}; ${prlimit === undefined ? 'without limits of memory (prlimit is not installed)' : 'with limits of memory and CPU time'}`;
  });
}

async function checkCast(config: Config): Promise<Finding[]> {
  return checkVoices(config, (await readCharacters(config, () => undefined)).values());
}

/** Checks the configured engines that are not embedded, one line each. */
async function checkServers(config: Config): Promise<Finding[]> {
  const what = 'engines';
  let plan: ReturnType<typeof planEngines>;
  try {
    plan = planEngines(config);
  } catch (fault) {
    return [{ what, ok: false, says: fault instanceof Error ? fault.message : String(fault) }];
  }
  const characters = await readCharacters(config, () => undefined);
  const character = characters.get(config.defaultCharacter) ?? [...characters.values()][0];
  if (character === undefined) return [{ what, ok: false, says: 'there are no characters' }];
  const findings = [...(await checkPlannedEngines(plan, character)), ...(await checkEmbeddings(config))];
  const notes = plan.notes.map((says) => ({ what: 'preset', ok: true, says }));
  if (findings.some(({ stage }) => stage === 'LLM' || stage === 'omni')) return [...notes, ...findings.map(asFinding)];
  const says = 'none connected: replies are scripted, from the characters’ own lines and cards';
  const remedy = connectRemedy;
  return [...notes, ...findings.map(asFinding), { what: 'LLM', ok: false, says, remedy, optional: true }];
}

function asFinding({ stage, name, ok, says }: EngineFinding): Finding {
  return { what: stage, ok, says: `${name}, ${says}` };
}

async function tried(what: string, remedy: string, check: () => Promise<string>): Promise<Finding[]> {
  try {
    return [{ what, ok: true, says: await check() }];
  } catch (fault) {
    const says = fault instanceof Error ? (fault.message.split('\n')[0] ?? '') : String(fault);
    return [{ what, ok: false, says, remedy }];
  }
}

/**
 * Runs each model on each execution provider in a separate process, compares the results with the CPU's, and stores the
 * findings for the server.
 */
async function checkProviders(config: Config): Promise<GpuFinding[]> {
  const { signal } = new AbortController();
  const proofs = openProviderResults(config.dataDir);
  const findings: GpuFinding[] = [];
  for (const trial of trialsOf(config)) {
    const base = await runTrial(trial, 'cpu', signal);
    const onProcessor = findingOf(trial.title, 'cpu', base, base);
    for (const provider of providers.filter((each) => each !== 'cpu')) {
      const finding = findingOf(trial.title, provider, await runTrial(trial, provider, signal), base);
      const used = follows(trial) && isWorthwhile(finding, onProcessor);
      if (follows(trial)) proofs.note(trial.file, provider, used);
      findings.push(
        used ? { ...finding, says: `${finding.says}; used unless overridden by \`--providers\`` } : finding,
      );
    }
    findings.push(onProcessor);
  }
  return findings;
}

/** Formats the findings as a table. */
function gpuTable(findings: readonly GpuFinding[]): string {
  const rows = findings.map(({ model, provider, ok, medianMs, difference, says }) => [
    ok ? '✓' : '–',
    model,
    provider,
    medianMs === null ? '' : `${medianMs.toFixed(2)} ms`,
    difference === null || provider === 'cpu' ? '' : difference.toExponential(1),
    says,
  ]);
  return table(['', 'model', 'provider', 'time', 'difference', 'result'], rows);
}
