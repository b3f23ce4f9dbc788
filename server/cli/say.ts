import { CharacterError } from '../../characters/character-error.ts';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { concatSamples } from '../../voices/audio.ts';
import { EngineError } from '../../voices/engine.ts';
import { writeWav } from '../../voices/dsp/wav.ts';
import { openEngines } from '../engines/engines.ts';
import { readCharacters } from '../cast/cast.ts';
import { mouthFile, mouthFormats, type MouthFormat } from '../speech/mouth-file.ts';
import { speakText, type SpokenBlock } from '../speech/speak-text.ts';
import { interruptSignal } from '../terminal/interrupt.ts';
import { parseCommand } from '../terminal/commands.ts';
import { requireFlag, requirePlaceFor, textFlag, UsageError } from '../terminal/flags.ts';
import { jsonText, outputOf, tellIfSlow } from '../terminal/text.ts';

/** `dramatis say`: synthesizes a text in a character's voice, and writes how its mouth moves. */
export async function run(args: string[]): Promise<number> {
  const parsed = parseCommand('say', '"TEXT" --character ID --out FILE', args, {
    character: { type: 'string', value: 'ID', help: 'character whose voice is used' },
    out: { type: 'string', value: 'FILE', help: 'WAV file to write; - for standard output' },
    visemes: { type: 'string', value: 'FILE', help: 'JSON file to write, with the mouth shapes' },
    format: { type: 'string', value: 'NAME', help: `format of that file: ${mouthFormats.join(', ')}` },
  });
  if (parsed === undefined) return 0;
  const text = parsed.positionals.join(' ').trim();
  if (text === '') throw new UsageError('Give a text to say.');
  const id = requireFlag(parsed.values.character, 'character');
  const out = requireFlag(parsed.values.out, 'out');
  requirePlaceFor(out);
  const shapes = textFlag(parsed.values.visemes);
  if (shapes !== undefined) requirePlaceFor(shapes);
  const format = formatOf(textFlag(parsed.values.format));
  const character = (await readCharacters(parsed.config)).get(id);
  if (character === undefined)
    throw new CharacterError(`There is no character "${id}". \`dramatis characters\` lists them.`);
  const engines = await tellIfSlow('Loading the engines …', openEngines(parsed.config));
  try {
    const { synthesizer, voice } = engines.voiceOf(character);
    const blocks: SpokenBlock[] = [];
    const visemes = { aligner: engines.aligner, language: character.languages[0] };
    const how = { signal: interruptSignal(), voice, visemes: shapes === undefined ? undefined : visemes, waits: true };
    for await (const block of speakText(text, synthesizer, how)) blocks.push(block);
    const samples = concatSamples(blocks.map((block) => block.samples));
    const { target, tell } = outputOf(out);
    await writeWav(target, samples, synthesizer.sampleRate);
    tell(
      `${out}: ${(samples.length / synthesizer.sampleRate).toFixed(2)} s, voice of ${character.name} (TTS ${synthesizer.name})`,
    );
    if (shapes !== undefined) await writeShapes(shapes, format, blocks, out);
    return 0;
  } finally {
    await engines.close();
  }
}

function formatOf(name = 'oculus'): MouthFormat {
  const format = mouthFormats.find((known) => known === name);
  if (format === undefined) throw new UsageError(`--format must be one of ${mouthFormats.join(', ')}.`);
  return format;
}

/** Throws an `EngineError` if mouth shapes are not known for the voice. */
async function writeShapes(file: string, format: MouthFormat, blocks: readonly SpokenBlock[], sound: string) {
  const made = mouthFile(format, blocks, path.basename(sound));
  if (made === undefined)
    throw new EngineError('say', 'ENGINE_REFUSED', 'the mouth shapes of this voice are not known');
  await writeFile(file, `${jsonText(made)}\n`);
}
