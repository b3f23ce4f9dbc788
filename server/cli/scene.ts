import type { Message } from '../../agents/chat.ts';
import type { Feelings } from '../../agents/feelings.ts';
import { CharacterError } from '../../characters/character-error.ts';
import type { Emotion } from '../../characters/emotion.ts';
import { sceneModel } from '../../characters/scene.ts';
import { concatSamples } from '../../voices/audio.ts';
import { resample } from '../../voices/dsp/resampler.ts';
import { writeWav } from '../../voices/dsp/wav.ts';
import { openEngines } from '../engines/engines.ts';
import { wireSampleRate } from '../protocol/limits.ts';
import { readCast } from '../cast/cast.ts';
import { systemClock } from '../session/contract/clock.ts';
import type { MessageItem, Speaker } from '../session/contract/item.ts';
import { Moods } from '../session/history/participants.ts';
import type { Responder } from '../session/contract/responder.ts';
import { TurnTimings } from '../session/contract/turn-timings.ts';
import { scriptedNote } from './scripted-note.ts';
import { interruptSignal } from '../terminal/interrupt.ts';
import { parseCommand } from '../terminal/commands.ts';
import { numberFlag, requirePlaceFor, textFlag, UsageError } from '../terminal/flags.ts';
import { noteLine, outputOf, tellIfSlow } from '../terminal/text.ts';

/** `dramatis scene`: plays a scene with several characters, each in its own voice. */
export async function run(args: string[]): Promise<number> {
  const parsed = parseCommand('scene', 'ID [--out FILE] [--turns N]', args, {
    out: { type: 'string', value: 'FILE', help: 'WAV file to write; - for standard output' },
    turns: { type: 'string', value: 'N', help: 'maximum number of turns (default: as in the scene)' },
  });
  if (parsed === undefined) return 0;
  const cast = await readCast(parsed.config);
  const scenes = [...cast.values()].filter(({ stage }) => stage !== undefined);
  const [id = ''] = parsed.positionals;
  const scene = cast.get(sceneModel(id));
  if (scene?.stage === undefined) {
    const known = scenes.map((each) => each.id.slice(sceneModel('').length)).join(', ');
    if (id === '') throw new UsageError(`Name a scene. The scenes are: ${known}.`);
    throw new CharacterError(`There is no scene "${id}". The scenes are: ${known}.`);
  }
  const turns = numberFlag(parsed.values.turns, 'turns', { min: 1, isWhole: true }) ?? scene.stage.scene.turns;
  const out = textFlag(parsed.values.out);
  if (out !== undefined) requirePlaceFor(out);
  const { target, tell } = outputOf(out ?? '');
  const signal = interruptSignal();
  const engines = await tellIfSlow('Loading the engines …', openEngines(parsed.config));
  const note = scriptedNote(parsed.config);
  if (note !== undefined) noteLine(note);
  try {
    tell(`${scene.name}\n\n${scene.stage.scene.circumstance}\n`);
    const responder = engines.responderFor(scene);
    const blocks: Float32Array[] = [];
    const moods = new Moods(systemClock, scene.stage.cast);
    const history: Message[] = [];
    let samples = 0;
    for (let turn = 0; turn < turns; turn += 1) {
      const played = await play(responder, history, { speaks: out !== undefined, signal, moods });
      if (played === undefined) break;
      const line = [...played.actions, played.text].join(' ');
      history.push({ role: 'assistant', name: played.speaker.name, text: line });
      const at = out !== undefined ? `${clockTime(samples / wireSampleRate)} ` : '';
      tell(`${at}${played.speaker.name}: ${line}\n`);
      blocks.push(...played.blocks);
      samples += played.blocks.reduce((sum, { length }) => sum + length, 0);
    }
    if (out !== undefined) {
      await writeWav(target, concatSamples(blocks), wireSampleRate);
      tell(
        `${out}: ${(samples / wireSampleRate).toFixed(1)} s, ${history.length} turn${history.length === 1 ? '' : 's'}`,
      );
    }
    return 0;
  } finally {
    await engines.close();
  }
}

/** Formats a position in the recording, such as `1:02.4`. */
function clockTime(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${(seconds % 60).toFixed(1).padStart(4, '0')}`;
}

interface Turn {
  readonly speaker: Speaker;
  readonly text: string;
  readonly actions: readonly string[];
  readonly blocks: readonly Float32Array[];
}

interface Playing {
  readonly speaks: boolean;
  readonly signal: AbortSignal;
  readonly moods: Moods;
}

/** Plays one turn; undefined if the scene is over. */
async function play(
  responder: Responder,
  history: readonly Message[],
  { speaks, signal, moods }: Playing,
): Promise<Turn | undefined> {
  const blocks: Float32Array[] = [];
  const actions: string[] = [];
  let speaker: Speaker = { id: '', name: '' };
  let [text, emotion]: [string, Emotion | undefined] = ['', undefined];
  const feelingsOf = (id: string): Feelings => moods.now(id);
  const options = {
    signal,
    speaks,
    scene: '',
    speed: 1,
    trace: new TurnTimings(systemClock),
    feelingsOf,
    passesUser: true,
  };
  for await (const part of responder.reply(history, options)) {
    if (part.type === 'scene-end') return undefined;
    if (part.type === 'speaker') speaker = part.speaker;
    if (part.type === 'cue' && part.kind !== 'thought') actions.push(`(${part.text})`);
    if (part.type === 'text' || part.type === 'speech') emotion ??= part.emotion;
    if (part.type === 'text') text += part.text;
    if (part.type !== 'speech') continue;
    const { samples, sampleRate } = part.chunk.frame;
    text += part.chunk.text;
    blocks.push(resample(samples, sampleRate, wireSampleRate));
  }
  const item = { id: '', type: 'message', role: 'assistant', status: 'completed', speaker, emotion } as const;
  const said: MessageItem = { ...item, content: [{ type: 'text', text }] };
  moods.note({ type: 'reply-item', replyId: '', item: said, inConversation: true, previousItemId: null });
  moods.note({ type: 'reply-item-ended', replyId: '', item: said, cut: false });
  return { speaker, text: text.trim(), actions, blocks };
}
