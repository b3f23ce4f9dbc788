import type { OfflineSpeakerDiarization, SpeakerEmbeddingExtractor } from 'sherpa-onnx-node';
import { serveProcess } from '../runtime/process-serve.ts';
import { checkWeights } from '../models/weights.ts';
import { importSherpa, modelOptions, sampleRate } from './settings.ts';
import type { SpeakerData, SpeakerProcessReply, SpeakerRequest } from './speaker-process.ts';

interface Speakers {
  readonly embedder?: SpeakerEmbeddingExtractor;
  readonly diarizer?: OfflineSpeakerDiarization;
  readonly threshold?: number;
}

serveProcess<SpeakerData, Speakers, SpeakerRequest, SpeakerProcessReply>({
  async load({ name, settings }) {
    const sherpa = await importSherpa(name);
    const { embedding, segmentation } = await checkWeights(name, settings.files);
    const { threshold = 0.5 } = settings;
    const options = modelOptions(settings);
    if (segmentation === undefined) {
      return { embedder: new sherpa.SpeakerEmbeddingExtractor({ model: embedding, ...options }) };
    }
    const diarizer = new sherpa.OfflineSpeakerDiarization({
      segmentation: { pyannote: { model: segmentation }, ...options },
      embedding: { model: embedding, ...options },
      clustering: { numClusters: -1, threshold },
      minDurationOn: 0.2,
      minDurationOff: 0.5,
    });
    return { diarizer, threshold };
  },
  async answer({ embedder, diarizer, threshold }, { samples, speakers }, { tell }) {
    if (embedder !== undefined) tell({ embedding: embed(embedder, samples) });
    if (diarizer === undefined) return;
    diarizer.setConfig({ clustering: { numClusters: speakers ?? -1, threshold } });
    const segments = samples.length === 0 ? [] : diarizer.process(samples);
    tell({
      segments: segments.map(({ start, end, speaker }) => ({ startMs: start * 1000, endMs: end * 1000, speaker })),
    });
  },
});

function embed(embedder: SpeakerEmbeddingExtractor, samples: Float32Array): Float32Array {
  const stream = embedder.createStream();
  stream.acceptWaveform({ samples, sampleRate });
  stream.inputFinished();
  if (!embedder.isReady(stream)) return new Float32Array(0);
  return embedder.compute(stream, false);
}
