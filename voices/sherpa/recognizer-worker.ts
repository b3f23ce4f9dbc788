import type Sherpa from 'sherpa-onnx-node';
import type { OfflineRecognizer, OnlineRecognizer, OnlineStream } from 'sherpa-onnx-node';
import { serveProcess } from '../runtime/process-serve.ts';
import { checkWeights } from '../models/weights.ts';
import type { RecognizerProcessData, RecognizerProcessReply, RecognizerProcessRequest } from './recognizer.ts';
import {
  isStreaming,
  recognizerConfig,
  type RecognizerSettings,
  type PunctuationSettings,
} from './recognizer-settings.ts';
import { importSherpa, sampleRate, modelOptions, type MachineSettings } from './settings.ts';

/** Silence appended to a stream, because streaming models need some look-ahead to output the last words. */
const lookAheadMs = 600;

interface LoadedRecognizer {
  readonly settings: RecognizerSettings;
  readonly online?: OnlineRecognizer;
  readonly offline?: OfflineRecognizer;
  /** Utterances in progress, by stream number. */
  readonly streams: Map<number, OnlineStream>;
  readonly punctuate: (text: string) => string;
}

serveProcess<RecognizerProcessData, LoadedRecognizer, RecognizerProcessRequest, RecognizerProcessReply>({
  async load({ name, settings }) {
    const sherpa = await importSherpa(name);
    const { punctuation } = settings;
    const paths = await checkWeights(name, settings.files);
    const punctuate =
      punctuation === undefined ? undefined : await openPunctuation(name, punctuation, settings, sherpa);
    const config = recognizerConfig(settings, paths);
    return {
      settings,
      ...(isStreaming(settings)
        ? { online: new sherpa.OnlineRecognizer(config) }
        : { offline: await sherpa.OfflineRecognizer.createAsync(config) }),
      streams: new Map(),
      punctuate: punctuate ?? ((text) => text),
    };
  },
  async answer(recognizer, request, { tell }) {
    if (request.kind === 'load') tell({ text: '' });
    else if (request.kind === 'piece') tell(await transcribePiece(recognizer, request.samples));
    else if (request.kind === 'block') tell({ text: transcribeBlock(recognizer, request) });
    else recognizer.streams.delete(request.stream);
  },
});

async function transcribePiece(
  { offline, punctuate }: LoadedRecognizer,
  samples: Float32Array,
): Promise<RecognizerProcessReply> {
  if (offline === undefined) throw new Error('this is a streaming model');
  const stream = offline.createStream();
  stream.acceptWaveform({ samples, sampleRate });
  const { text, lang } = await offline.decodeAsync(stream);
  // SenseVoice writes `<|en|>`, and `<|nospeech|>`.
  const language = /^(?:<\|)?([a-z]{2,3})(?:\|>)?$/.exec(lang ?? '')?.[1];
  return { text: punctuate(text.trim()), ...(language === undefined ? {} : { language }) };
}

function transcribeBlock(
  recognizer: LoadedRecognizer,
  { stream: id, samples, isLast }: Extract<RecognizerProcessRequest, { kind: 'block' }>,
): string {
  const { online, streams, punctuate } = recognizer;
  if (online === undefined) throw new Error('this model is not a streaming model');
  const stream = streams.get(id) ?? online.createStream();
  streams.set(id, stream);
  if (samples.length > 0) stream.acceptWaveform({ samples, sampleRate });
  if (isLast) {
    stream.acceptWaveform({ samples: new Float32Array((lookAheadMs * sampleRate) / 1000), sampleRate });
    // Without this a Paraformer drops input shorter than its window of 0.6 s.
    stream.setOption('is_final', '1');
    stream.inputFinished();
    streams.delete(id);
  }
  while (online.isReady(stream)) online.decode(stream);
  return punctuate(inLowerCase(online.getResult(stream).text.trim()));
}

/** Lower-cases text in capitals, as some models write it: hard to read, and unknown to punctuation models. */
function inLowerCase(text: string): string {
  return /\p{Ll}/u.test(text) ? text : text.toLowerCase();
}

/** Loads a punctuation model; returns a function that adds punctuation to a recognizer's text. */
async function openPunctuation(
  name: string,
  punctuation: PunctuationSettings,
  machine: MachineSettings,
  sherpa: typeof Sherpa,
): Promise<(text: string) => string> {
  const paths = await checkWeights(name, punctuation.files);
  const options = modelOptions(machine);
  const model =
    punctuation.family === 'ct-transformer'
      ? new sherpa.OfflinePunctuation({ model: { ctTransformer: paths['model'], ...options } })
      : new sherpa.OnlinePunctuation({
          model: { cnnBilstm: paths['model'], bpeVocab: paths['vocabulary'], ...options },
        });
  return (text) => (text === '' ? '' : model.addPunct(text));
}
