/**
 * Global scope of an audio worklet module; TypeScript's DOM library has no types for it.
 *
 * @typedef {object} WorkletScope
 * @property {number} sampleRate
 * @property {number} currentFrame the first frame of the block being rendered
 * @property {new () => { readonly port: MessagePort }} AudioWorkletProcessor
 * @property {(name: string, processor: new (options: { processorOptions: never }) => Processor) =>
 *   void} registerProcessor
 */

/**
 * @typedef {object} Processor
 * @property {(inputs: Float32Array[][], outputs: Float32Array[][]) => boolean} process returns
 *   false if the node may be dropped
 */

/** The global scope of an audio worklet. Only for modules loaded with `audioWorklet.addModule`. */
export const worklet = /** @type {WorkletScope} */ (/** @type {unknown} */ (globalThis));
