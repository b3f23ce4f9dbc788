/** `train.sh` for ms-swift, with the settings of SpeechRole's paper. */
export function trainScript({ hasDev }: { readonly hasDev: boolean }): string {
  return `#!/bin/sh
# Fine-tunes a model on train.jsonl with ms-swift 3.9 (pip install "ms-swift==3.9.*"; version 4 renames --train_type to
# --tuner_type). Settings of the SpeechRole paper: LoRA of rank 8 on all linear layers, one epoch, eight GPUs.
#
# It trains the part that writes text: of Qwen2.5-Omni the thinker. Speech of the assistant is no target, so the talker
# stays as it is, and ms-swift's users report that its voice fits the tuned text less well.
#
#   sh train.sh [MODEL]        NPROC_PER_NODE=1 sh train.sh Qwen/Qwen2.5-0.5B-Instruct
set -eu
cd "$(dirname "$0")"
if ! command -v swift > /dev/null; then
  echo 'train.sh: there is no swift. Run pip install "ms-swift==3.9.*" first.' >&2
  exit 1
fi
if ! [ -s train.jsonl ]; then
  echo 'train.sh: train.jsonl is missing or empty. Run dramatis data export again.' >&2
  exit 1
fi
MODEL="\${1:-Qwen/Qwen2.5-Omni-7B}"
NPROC_PER_NODE="\${NPROC_PER_NODE:-8}" swift sft \\
  --model "$MODEL" \\
  --dataset train.jsonl \\${hasDev ? '\n  --val_dataset val.jsonl \\' : ''}
  --train_type lora \\
  --lora_rank 8 \\
  --lora_alpha 32 \\
  --target_modules all-linear \\
  --torch_dtype bfloat16 \\
  --num_train_epochs 1 \\
  --per_device_train_batch_size 2 \\
  --per_device_eval_batch_size 2 \\
  --gradient_accumulation_steps 1 \\
  --learning_rate 1e-4 \\
  --warmup_ratio 0.05 \\
  --eval_steps 500 \\
  --save_steps 500 \\
  --save_total_limit 2 \\
  --output_dir output
`;
}

/** `dataset_info.json`, which LLaMA-Factory reads. */
export function datasetInfo(
  format: 'sharegpt' | 'alpaca',
  files: readonly string[],
  [user, role]: readonly [user: string, role: string],
): Readonly<Record<string, object>> {
  const facts =
    format === 'sharegpt'
      ? {
          formatting: 'sharegpt',
          columns: { messages: 'conversations' },
          tags: { role_tag: 'from', content_tag: 'value', user_tag: user, assistant_tag: role, system_tag: 'system' },
        }
      : {
          columns: { prompt: 'instruction', query: 'input', response: 'output', system: 'system', history: 'history' },
        };
  return Object.fromEntries(files.map((file) => [file.replace('.jsonl', ''), { file_name: file, ...facts }]));
}
