import { pathToFileURL } from 'node:url';
import { cpuPerWindow, noise, tickOf, warmUpTicks } from './vad-ticks.ts';

/**
 * Child process of the bench `vad`: measures another product's VAD, which depends on a version of onnxruntime-node that
 * cannot share a process with ours. Arguments: the module with its model, and the number of streams. Answers each
 * message with microseconds of CPU per stream and window.
 */
interface PeerModule {
  newInferenceSession(forceCpu: boolean): Promise<unknown>;
  readonly OnnxModel: new (session: unknown, sampleRate: number) => { run(window: Float32Array): Promise<number> };
}

const [file = '', count = ''] = process.argv.slice(2);
const peer = (await import(pathToFileURL(file).href)) as PeerModule;
// One session for all streams, as in its own `VAD.load`.
const session = await peer.newInferenceSession(true);
const models = Array.from({ length: Number(count) }, () => new peer.OnnxModel(session, 16_000));
const tick = tickOf(models.map((model) => ({ score: (window: Float32Array) => model.run(window) })));
const windows = noise(models.length);
for (let index = 0; index < warmUpTicks; index += 1) await tick(windows);
process.on('message', () => void cpuPerWindow(tick, windows).then((cost) => process.send?.(cost)));
process.send?.('ready');
