import type { OfflineTts } from 'sherpa-onnx-node';
import type { PcmBlock } from '../calls/pcm-stream.ts';
import { serveProcess } from '../runtime/process-serve.ts';
import { checkWeights } from '../models/weights.ts';
import type { SynthesizerProcessData, SynthesizerProcessRequest } from './synthesizer.ts';
import { importSherpa } from './settings.ts';
import { synthesizerConfig } from './synthesizer-settings.ts';

serveProcess<SynthesizerProcessData, OfflineTts, SynthesizerProcessRequest, PcmBlock>({
  async load({ name, settings }) {
    const sherpa = await importSherpa(name);
    const paths = await checkWeights(name, settings.files);
    return sherpa.OfflineTts.createAsync(synthesizerConfig(settings, paths));
  },
  async answer(model, request, { signal, tell }) {
    if (request.kind === 'load') {
      return tell({ samples: new Float32Array(0), sampleRate: model.sampleRate });
    }
    const { text, speaker, speed, steps, reference } = request;
    await model.generateAsync({
      text,
      enableExternalBuffer: false,
      generationConfig: {
        // For a speaker that the model lacks, sherpa-onnx would only log a complaint.
        sid: speaker < model.numSpeakers ? speaker : 0,
        speed,
        ...(steps === undefined ? {} : { numSteps: steps }),
        ...(reference === undefined
          ? {}
          : {
              referenceAudio: reference.samples,
              referenceSampleRate: reference.sampleRate,
              referenceText: reference.transcript,
            }),
      },
      onProgress({ samples }) {
        // Copied, because the model reclaims its buffer.
        tell({ samples: new Float32Array(samples), sampleRate: model.sampleRate });
        return !signal.aborted;
      },
    });
  },
});
