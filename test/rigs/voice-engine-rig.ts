import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import type { CallCost } from '../../voices/calls/calls.ts';
import type { CallPolicy } from '../../voices/calls/call-policy.ts';
import { openContext, type Adapter } from '../../voices/calls/context.ts';
import type { EngineLifecycle } from '../../voices/engine.ts';
import type { ReferenceVoice, SpeechChunk, SpeechSynthesizer, Voice } from '../../voices/synthesizer.ts';
import { writeWav } from '../../voices/dsp/wav.ts';
import { behind, secretKey, type Opened } from '../conformance/upstream.ts';
import type { EngineServer } from '../fakes/servers/engine-server.ts';
import { tone } from '../fakes/vad.ts';
import { phrasesOf } from '../fakes/spoken.ts';

/** A folder for the tests of one file, which also closes what it was told to keep; both after the last test. */
export async function keptForTests() {
  const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-test-'));
  const opened: { close?(): Promise<unknown> }[] = [];
  afterAll(async () => {
    await Promise.all(opened.map(async (each) => each.close?.()));
    await rm(folder, { recursive: true });
  });
  const keep = <Engine extends { close?(): Promise<unknown> }>(engine: Engine): Engine => {
    opened.push(engine);
    return engine;
  };
  return { folder, keep };
}

/** A reference clip for the tests of one file. */
export async function clipForTests(options: { readonly ms?: number; readonly language?: string } = {}) {
  const { folder } = await keptForTests();
  const wavPath = path.join(folder, 'martha.wav');
  const transcript = 'I keep the house.';
  const language = options.language ?? 'en';
  beforeAll(() => writeWav(wavPath, tone(options.ms ?? 4_000, 16_000), 16_000));
  const consent = 'Martha said so';
  const voice: ReferenceVoice = { kind: 'reference', wavPath, transcript, language, consent };
  return { voice, folder, defaultClip: { wav: wavPath, transcript, language, consent } };
}

/** Opens an engine of this kind, as the engines file would. */
export function openEngine<Engine, Settings>(
  adapter: Adapter<Engine, Settings>,
  given: Record<string, unknown>,
  care: CallPolicy = {},
  log?: (cost: CallCost) => void,
): Engine & EngineLifecycle {
  const settings = adapter.settings.parse(given);
  return adapter.open(
    settings,
    openContext('voice', { key: secretKey, callPolicy: [care, adapter.callPolicy?.(settings)], log }),
  );
}

/** A policy with a shorter limit to connect, for engines that may wait for the server's first word. */
export function promptly(care: CallPolicy = {}): CallPolicy {
  return { ...care, timeouts: { connectMs: 500, ...care.timeouts } };
}

/** A synthesizer with its server, for the conformance suite; both are closed after each test. */
export async function opened<Settings>(
  adapter: Adapter<SpeechSynthesizer, Settings>,
  given: Record<string, unknown>,
  {
    server,
    route,
    care,
  }: { readonly server: EngineServer; readonly route: string; readonly care?: CallPolicy | undefined },
): Promise<Opened<SpeechSynthesizer>> {
  // Abandoned calls keep no concurrency slot, because the test servers drop them at once.
  const engine = openEngine(adapter, { baseUrl: server.url, ...given }, { graceMs: 0, ...care });
  return behind(engine, server, route);
}

export async function say(
  engine: SpeechSynthesizer,
  voice: Voice,
  options: { readonly speed?: number; readonly language?: string; readonly text?: string } = {},
): Promise<SpeechChunk[]> {
  const { text = 'Mind the step.', ...rest } = options;
  const { signal } = new AbortController();
  return Array.fromAsync(engine.speak(phrasesOf(text), { signal, voice, ...rest }));
}
