import { CharacterError } from '../../characters/character-error.ts';
import { concatSamples } from '../../voices/audio.ts';
import { phrases } from '../../voices/text/phrases.ts';
import { writeWav } from '../../voices/dsp/wav.ts';
import { openEngines } from '../engines/engines.ts';
import { readCharacters } from '../cast/cast.ts';
import { interruptSignal } from '../terminal/interrupt.ts';
import { parseCommand } from '../terminal/commands.ts';
import { requireFlag, requirePlaceFor, UsageError } from '../terminal/flags.ts';
import { outputOf, tellIfSlow } from '../terminal/text.ts';

/** `dramatis say`: synthesizes a text in a character's voice. */
export async function run(args: string[]): Promise<number> {
  const parsed = parseCommand('say', '"TEXT" --character ID --out FILE', args, {
    character: { type: 'string', value: 'ID', help: 'character whose voice is used' },
    out: { type: 'string', value: 'FILE', help: 'WAV file to write; - for standard output' },
  });
  if (parsed === undefined) return 0;
  const text = parsed.positionals.join(' ').trim();
  if (text === '') throw new UsageError('Give a text to say.');
  const id = requireFlag(parsed.values.character, 'character');
  const out = requireFlag(parsed.values.out, 'out');
  requirePlaceFor(out);
  const character = (await readCharacters(parsed.config)).get(id);
  if (character === undefined)
    throw new CharacterError(`There is no character "${id}". \`dramatis characters\` lists them.`);
  const engines = await tellIfSlow('Loading the engines …', openEngines(parsed.config));
  try {
    const { synthesizer, voice } = engines.voiceOf(character);
    async function* texts(): AsyncIterable<{ text: string }> {
      for await (const phrase of phrases(once(text))) yield { text: phrase };
    }
    const blocks: Float32Array[] = [];
    for await (const chunk of synthesizer.speak(texts(), { signal: interruptSignal(), voice }))
      blocks.push(chunk.frame.samples);
    const samples = concatSamples(blocks);
    const { target, tell } = outputOf(out);
    await writeWav(target, samples, synthesizer.sampleRate);
    tell(
      `${out}: ${(samples.length / synthesizer.sampleRate).toFixed(2)} s, voice of ${character.name} (TTS ${synthesizer.name})`,
    );
    return 0;
  } finally {
    await engines.close();
  }
}

async function* once(text: string): AsyncIterable<string> {
  yield text;
}
