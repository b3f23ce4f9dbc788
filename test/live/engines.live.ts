import { it } from 'vitest';
import { readConfig } from '../../server/config/config.ts';
import { planEngines, type PlannedEngine } from '../../server/engines/engine-plan.ts';
import { openChat, openOmni, openRecognizer, openSynthesizer } from '../../server/engines/open-planned.ts';
import type { OpenedEngine } from '../../server/engines/open-planned.ts';
import { voiceOf } from '../../server/engines/voice-of.ts';
import { readCharacters } from '../../server/cast/cast.ts';
import { EngineError } from '../../voices/engine.ts';
import { openFlite } from '../../voices/synthesizers/flite.ts';
import { chatConformance } from '../conformance/chat.ts';
import { omniConformance } from '../conformance/omni.ts';
import { recognizerConformance } from '../conformance/recognizer.ts';
import { synthesizerConformance } from '../conformance/synthesizer.ts';
import type { Opened } from '../conformance/upstream.ts';
import { chosenEngines, type ChosenEngine } from './chosen-engines.ts';
import { spoken } from '../fakes/spoken.ts';

const timeoutMs = 180_000;
const config = readConfig({ flags: {}, environment: process.env });
const plan = planEngines(config);
const characters = await readCharacters(config);
const character = characters.get(config.defaultCharacter) ?? [...characters.values()][0];
if (character === undefined) throw new Error('there is nobody to speak as');
const sentence = 'The weather is fine today.';

const suites: Readonly<Record<ChosenEngine['role'], (title: string, planned: PlannedEngine) => Promise<void>>> = {
  async asr(title, planned) {
    const speech = await said(sentence);
    recognizerConformance({ title, ...each(() => openRecognizer(planned)), speech, says: /fine/i, timeoutMs });
  },
  async llm(title, planned) {
    chatConformance({ title, ...each(() => openChat(planned)), says: /\S/ });
  },
  async tts(title, planned) {
    const { clones } = await openSynthesizer(planned);
    const voice = voiceOf(character, { voices: planned.voices, references: plan.references, clones });
    synthesizerConformance({ title, ...each(() => openSynthesizer(planned)), voice, timeoutMs });
  },
  async omni(title, planned) {
    omniConformance({ title, ...each(() => openOmni(planned)), says: /\S/ });
  },
};

for (const { role, kind, planned } of chosenEngines(plan)) {
  const title = `${role} ${kind}${planned === undefined ? '' : `, "${planned.name}"`}`;
  const whyNot = planned === undefined ? 'none is configured' : await fault(role, planned);
  if (planned !== undefined && whyNot === undefined) {
    await suites[role](title, planned);
    continue;
  }
  console.log(`SKIPPED ${title}: ${whyNot}`);
  // oxlint-disable-next-line vitest/warn-todo -- the report shows why it was skipped
  it.todo(`${title} (skipped: ${whyNot})`);
}

/** Reason why an engine cannot be tested; undefined if it can. */
async function fault(role: ChosenEngine['role'], planned: PlannedEngine): Promise<string | undefined> {
  const openers = { asr: openRecognizer, llm: openChat, tts: openSynthesizer, omni: openOmni };
  try {
    const opened: OpenedEngine<unknown> = await openers[role](planned);
    await opened.engine.check?.({ signal: AbortSignal.timeout(timeoutMs) });
    return undefined;
  } catch (cause) {
    return cause instanceof EngineError ? cause.detail : cause instanceof Error ? cause.message : String(cause);
  }
}

/** Opens the engine again for each test. */
function each<Engine>(open: () => Promise<OpenedEngine<Engine>>) {
  return {
    open: async (): Promise<Opened<Engine>> => {
      const { engine } = await open();
      return { engine, [Symbol.asyncDispose]: async () => engine.close?.() };
    },
  };
}

/** Synthesizes a text with our own English voice, at 16 kHz. */
async function said(text: string): Promise<Float32Array> {
  const flite = openFlite();
  const voice = { kind: 'preset', id: 'rms' } as const;
  const samples = await spoken(text, { synthesizer: flite, voice, sampleRate: 16_000 });
  await flite.close();
  return samples;
}
