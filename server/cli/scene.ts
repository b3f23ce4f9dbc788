import type { Message } from '../../agents/chat.ts';
import { sceneModel } from '../../characters/scene.ts';
import { concatSamples } from '../../voices/audio.ts';
import { resample } from '../../voices/resampler.ts';
import { writeWav } from '../../voices/wav.ts';
import { openEngines } from '../engines.ts';
import { wireSampleRate } from '../protocol/limits.ts';
import { readCast } from '../serve.ts';
import { systemClock } from '../session/clock.ts';
import type { Responder } from '../session/responder.ts';
import { Trace } from '../session/trace.ts';
import { interruptSignal } from './interrupt.ts';
import { parseCommand, UsageError } from './usage.ts';

/** `dramatis scene`: several characters play a scene, each in its own voice. */
export async function run(args: string[]): Promise<number> {
  const parsed = parseCommand('scene', 'ID [--out FILE] [--turns N]', args, {
    out: { type: 'string', value: 'FILE', help: 'the WAV file to write' },
    turns: { type: 'string', value: 'N', help: 'the most turns to play (the scene’s own number otherwise)' },
  });
  if (parsed === undefined) return 0;
  const cast = await readCast(parsed.config);
  const scenes = [...cast.values()].filter(({ stage }) => stage !== undefined);
  const [id = ''] = parsed.positionals;
  const scene = cast.get(sceneModel(id));
  if (scene?.stage === undefined) {
    const known = scenes.map((each) => each.id.slice(sceneModel('').length)).join(', ');
    throw new UsageError(`${id === '' ? 'Name a scene' : `There is no scene "${id}"`}. There is ${known}.`);
  }
  const turns = turnsOf(parsed.values.turns) ?? scene.stage.scene.turns;
  const { out } = parsed.values;
  const signal = interruptSignal();
  const engines = await openEngines(parsed.config);
  try {
    console.log(`${scene.name}\n\n${scene.stage.scene.circumstance}\n`);
    const responder = engines.responderFor(scene);
    const blocks: Float32Array[] = [];
    const history: Message[] = [];
    for (let turn = 0; turn < turns; turn += 1) {
      const played = await play(responder, history, typeof out === 'string', signal);
      if (played === undefined) break;
      history.push({ role: 'assistant', name: played.name, text: played.text });
      blocks.push(...played.blocks);
      console.log(`${played.name}: ${[...played.actions, played.text].join(' ')}\n`);
    }
    if (typeof out === 'string') {
      const samples = concatSamples(blocks);
      await writeWav(out, samples, wireSampleRate);
      console.log(`${out}: ${(samples.length / wireSampleRate).toFixed(1)} s, ${history.length} turns`);
    }
    return 0;
  } finally {
    await engines.close();
  }
}

function turnsOf(value: string | boolean | undefined): number | undefined {
  if (value === undefined) return undefined;
  const turns = Number(value);
  if (!Number.isInteger(turns) || turns < 1) throw new UsageError('--turns must be a whole number from 1 on.');
  return turns;
}

interface Turn {
  readonly name: string;
  readonly text: string;
  readonly actions: readonly string[];
  readonly blocks: readonly Float32Array[];
}

/** One turn; undefined where the scene is over. */
async function play(
  responder: Responder,
  history: readonly Message[],
  speaks: boolean,
  signal: AbortSignal,
): Promise<Turn | undefined> {
  const blocks: Float32Array[] = [];
  const actions: string[] = [];
  let [name, text] = ['', ''];
  const options = { signal, speaks, scene: '', speed: 1, trace: new Trace(systemClock) };
  for await (const part of responder.reply(history, options)) {
    if (part.type === 'scene-end') return undefined;
    if (part.type === 'speaker') name = part.speaker.name;
    if (part.type === 'cue' && part.kind === 'action') actions.push(`(${part.text})`);
    if (part.type === 'text') text += part.text;
    if (part.type !== 'speech') continue;
    const { samples, sampleRate } = part.chunk.frame;
    text += part.chunk.text;
    blocks.push(resample(samples, sampleRate, wireSampleRate));
  }
  return { name, text: text.trim(), actions, blocks };
}
