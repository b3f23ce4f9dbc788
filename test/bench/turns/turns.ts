import { readCharacters } from '../../../server/cast/cast.ts';
import { openEmbeddedVoices } from '../../../voices/synthesizers/embedded.ts';
import { openSilero } from '../../../voices/vads/silero.ts';
import { Decoder } from './simulated-engines.ts';
import { summarize, type BenchRow, type BenchShare } from '../kit/stats.ts';
import { loadMaterial } from './turns-material.ts';
import { panelOf, type Played } from './turns-panel.ts';
import { targetsOf } from './turns-targets.ts';
import { playScene, type SceneResources } from './turns-scene.ts';
import { atLevel, rate, roomNoise } from './turns-sounds.ts';
import { writeScript, type ScriptedScene } from './turns-script.ts';

/** Number of concurrent scenes: the VAD scores their windows together. */
const atOnce = 6;

/**
 * Quality of turn-taking, in the metrics of the τ-voice panel: a thousand scripted scenes against real sessions (VAD,
 * recognizer, turn detector, voices and turn-taking settings of the built-in characters; only the LLM is scripted).
 * Each scene has its own clock, on which recognizer and synthesizer take their usual time on two processors.
 * Interruptions, turns, pauses, vowels and the speakers across the room are recordings, at several levels in several
 * noises. There are no recordings of "mm-hm" and "yeah": those are embedded voices and generated hums; so are "um" and
 * "stop", and coughs and knocks (noise and music are recordings). `stock`: a client that falls silent when it is told
 * of speech; `holds`: one that also falls silent when it is told of a held reply.
 *
 * "Goes on", "yields": the reply does, for good. "No silent tick": as counted by τ-voice, for which a reply held for
 * just 200 ms has yielded. The rows that begin with "target" say what has to be reached, and whether it is. Scenes
 * share sounds, so the intervals are somewhat too narrow.
 *
 * `--seed N`: other levels, rooms, characters and moments; 7 unless given. `--half held-out`: only the scenes on which
 * no constant was tuned; `--half tuned`: the others. No sound is in both. `--only KIND,KIND`: scenes of these kinds.
 * `--heard FILE`: stores the transcripts and their decoding times for the next run. `--list`: prints the result of
 * every scene, as JSON, on stderr.
 */
export async function* run(args: readonly string[]): AsyncIterable<BenchRow | BenchShare> {
  const voices = openEmbeddedVoices({ sampleRate: rate });
  const vad = openSilero();
  try {
    const material = await loadMaterial(voices);
    if (material === undefined) return;
    const decoder = new Decoder(optionOf(args, 'heard'));
    await decoder.warm();
    const characters = [...(await readCharacters({})).values()].filter(({ languages }) => languages[0] === 'en');
    const [half, only] = [optionOf(args, 'half'), optionOf(args, 'only')];
    const script = writeScript(material, characters, Number(optionOf(args, 'seed') ?? 7)).filter(
      ({ source, kind }) =>
        (half === undefined || halfOf(source) === half) && (only === undefined || only.split(',').includes(kind)),
    );
    const room = atLevel(roomNoise(10_000, 3), 0);
    const played = await playAll(script, { vad, decoder, voices, spoken: new Map(), room });
    for (const row of panelOf(played)) if (row.n > 0) yield row;
    yield* targetsOf(played);
    yield summarize('turns', 'one decoding of the recognizer', 'ms', decoder.tookMs);
    if (args.includes('--list')) for (const one of played) console.error(describe(one));
    decoder.save();
  } finally {
    await Promise.all([vad.close(), voices.close()]);
  }
}

async function playAll(script: readonly ScriptedScene[], stage: SceneResources): Promise<Played[]> {
  const played: Played[] = [];
  const waiting = [...script];
  const player = async (): Promise<void> => {
    for (let scene = waiting.shift(); scene !== undefined; scene = waiting.shift()) {
      played.push({ scene, observed: await playScene(scene, stage) });
      if (played.length % 100 === 0) console.error(`${played.length} of ${script.length} scenes`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, player));
  return played;
}

/**
 * Splits the scenes: constants are tuned on one half and reported on the other. Sounds of one source are in the same
 * half.
 */
function halfOf(source: string): 'tuned' | 'held-out' {
  let sum = 0;
  for (const letter of source) sum = (sum * 31 + letter.charCodeAt(0)) >>> 0;
  return (sum ^ (sum >> 7)) % 2 === 0 ? 'tuned' : 'held-out';
}

function optionOf(args: readonly string[], name: string): string | undefined {
  const place = args.indexOf(`--${name}`);
  return place < 0 ? undefined : args[place + 1];
}

function describe({ scene, observed }: Played): string {
  const { name, client, echo, voice, character } = scene;
  return JSON.stringify({ name, client, echo, voice, who: character.id, ...observed });
}
