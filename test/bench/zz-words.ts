import { openEmbeddedVoices } from '../../voices/synthesizers/embedded.ts';
import { judge, scoreOf } from '../../voices/recognizers/hypothesis.ts';
import { Decoder } from './simulated-engines.ts';
import { loadMaterial } from './turns-material.ts';
import { mix, samplesIn } from './turns-sounds.ts';
const voices = openEmbeddedVoices({ sampleRate: 16000 });
const m = (await loadMaterial(voices))!;
const d = new Decoder(undefined); await d.warm();
for (const [kind, list] of Object.entries({ words: m.words, commands: m.commands, tics: m.tics, hums: m.hums, vowels: m.vowels })) for (const v of list as any) {
  const track = new Float32Array(v.sound.length + samplesIn(250)); mix(track, v.sound, 120, 0.6);
  const { result } = await d.hear(track, true);
  console.log(kind, v.source, Math.round(v.sound.length/16), JSON.stringify(result.text), judge(result), scoreOf(result).toFixed(2), result.reluctant, result.silenceLogProbability.toFixed(2), result.logProbabilities.length);
}
process.exit(0);
