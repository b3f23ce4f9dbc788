/** Token of a vocabulary with the natural logarithm of its probability. */
export interface ScoredToken {
  readonly token: number;
  readonly logProbability: number;
}

/** Terms below this, relative to the greatest, are negligible in the sum. */
const negligible = -16;

/** Returns the most likely token by its logits. */
export function mostLikelyToken(logits: Float32Array): ScoredToken {
  const token = greatest(logits);
  return { token, logProbability: logProbabilityOf(logits, token) };
}

/** Returns the logarithm of the probability of `token`, at most 0. */
export function logProbabilityOf(logits: Float32Array, token: number): number {
  const top = logits[greatest(logits)] as number;
  let sum = 0;
  for (let index = 0; index < logits.length; index += 1) {
    const below = (logits[index] as number) - top;
    if (below > negligible) sum += Math.exp(below);
  }
  return (logits[token] as number) - top - Math.log(sum);
}

function greatest(values: Float32Array): number {
  let best = 0;
  for (let index = 1; index < values.length; index += 1) {
    if ((values[index] as number) > (values[best] as number)) best = index;
  }
  return best;
}
