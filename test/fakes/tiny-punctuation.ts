import type { Weights } from '../../voices/calls/weights.ts';
import { node, winners, type TinyFiles } from './tiny-model.ts';

/** A CT-Transformer that puts a comma after one word. */
export async function tinyPunctuation(
  files: TinyFiles,
  { words, commaAfter }: { readonly words: readonly string[]; readonly commaAfter: string },
): Promise<{ model: Weights }> {
  const tokens = [...words, '<unk>'];
  const marks = ['<unk>', '_', '，', '。', '？', '、'];
  const model = await files.onnx('punctuation.onnx', {
    metadata: {
      tokens: tokens.join('|'),
      vocab_size: tokens.length,
      punctuations: marks.join('|'),
      unk_symbol: '<unk>',
    },
    inputs: [
      { name: 'inputs', sizes: ['N', 'T'], type: 'int32' },
      { name: 'text_lengths', sizes: ['N'], type: 'int32' },
    ],
    outputs: [{ name: 'logits', sizes: ['N', 'T', marks.length] }],
    nodes: [node('Gather', ['scores', 'inputs'], ['logits'])],
    constants: {
      scores: winners(
        marks.length,
        tokens.map((token) => marks.indexOf(token === commaAfter ? '，' : '_')),
      ),
    },
  });
  return { model };
}
