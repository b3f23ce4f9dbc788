import type { Weights } from '../../../voices/models/weights.ts';
import { castTo, node, tensor, winners, type TinyFiles } from './tiny-model.ts';

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

/** A CNN-BiLSTM that capitalizes every word and adds no punctuation. */
export async function tinyCapitals(files: TinyFiles): Promise<{ model: Weights; vocabulary: Weights }> {
  const longest = 200;
  const choices = 4;
  const model = await files.onnx('capitals.onnx', {
    metadata: { COMMA: 1, PERIOD: 2, QUESTION: 3, UPPER: 1, CAP: 2, MIX_CASE: 3 },
    inputs: [
      { name: 'token_ids', sizes: ['N', longest], type: 'int32' },
      { name: 'valid_ids', sizes: ['N', longest], type: 'int32' },
      { name: 'label_lens', sizes: ['N'], type: 'int32' },
    ],
    outputs: [
      { name: 'case', sizes: ['words', choices] },
      { name: 'punctuation', sizes: ['words', choices] },
    ],
    nodes: [
      node('Cast', ['label_lens'], ['lengths'], castTo.int64),
      node('Sub', ['lengths', 'ends'], ['words']),
      node('Concat', ['words', 'choices'], ['shape'], { axis: 0 }),
      node('Expand', ['capital', 'shape'], ['case']),
      node('Expand', ['nothing', 'shape'], ['punctuation']),
    ],
    constants: { ends: [2], choices: [choices], capital: winners(choices, [2]), nothing: tensor([1, 1]) },
  });
  const pieces = ['<blk>', '<s>', '</s>', '▁', ...'abcdefghijklmnopqrstuvwxyz'.split('')];
  const vocabulary = await files.write('capitals.vocab', pieces.map((piece, id) => `${piece}\t${-id}\n`).join(''));
  return { model, vocabulary };
}
