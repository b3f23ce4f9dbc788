import type Sherpa from 'sherpa-onnx-node';
import { checkWeights } from '../models/weights.ts';
import type { PunctuationSettings } from './recognizer-settings.ts';
import { modelOptions, type MachineSettings } from './settings.ts';

/** Loads a punctuation model; returns a function that adds punctuation to a recognizer's text. */
export async function openPunctuation(
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
