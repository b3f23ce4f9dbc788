import { Refusal } from './api.js';

/** The longer side, in pixels: portraits are small, and cards travel. */
const LONGEST = 1024;

/**
 * A picture of any kind that the browser knows, as a PNG of a sensible size. Throws a Refusal where it is none.
 *
 * @param {File} file
 * @returns {Promise<Blob>}
 */
export async function pngOf(file) {
  const bitmap = await createImageBitmap(file).catch(() => {
    throw new Refusal(400, '', `${file.name} is no picture that this browser can read.`);
  });
  const scale = Math.min(1, LONGEST / Math.max(bitmap.width, bitmap.height));
  const canvas = new OffscreenCanvas(Math.round(bitmap.width * scale), Math.round(bitmap.height * scale));
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  return canvas.convertToBlob({ type: 'image/png' });
}
