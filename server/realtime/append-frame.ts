import { samplesFromBytes, type AudioFormat } from './audio-format.ts';

/** How most clients write the event that carries sound: its type and its sound, in this order and nothing else. */
const heads = [
  '{"type":"input_audio_buffer.append","audio":"',
  // As Python does.
  '{"type": "input_audio_buffer.append", "audio": "',
].map((head) => Buffer.from(head));
const tail = Buffer.from('"}');

/** Where a frame of a microphone is decoded, which is 2 kB; a second of sound fits in as well. */
const bytes = Buffer.allocUnsafeSlow(64 * 1024);
const floats = new Float32Array(32 * 1024);

/**
 * The sound of an `input_audio_buffer.append`, without a string and an object of each of 25 frames a second of everybody. The
 * next call overwrites it. Undefined where the frame is not as plain as that, or wrong: then it is to be parsed.
 */
export function soundOfAppend(frame: Buffer, format: AudioFormat): Float32Array | undefined {
  if (frame.length > bytes.length || !holds(frame, tail, frame.length - tail.length)) return undefined;
  const head = heads.find((one) => holds(frame, one, 0));
  if (head === undefined) return undefined;
  const audio = frame.toString('latin1', head.length, frame.length - tail.length);
  const length = bytes.write(audio, 'base64');
  return isBase64(audio, length) ? samplesFromBytes(bytes.subarray(0, length), format, floats) : undefined;
}

function holds(frame: Buffer, part: Buffer, offset: number): boolean {
  if (offset < 0 || offset + part.length > frame.length) return false;
  return frame.compare(part, 0, part.length, offset, offset + part.length) === 0;
}

/** Node passes over what is no base64, and then less comes out; but it takes two more characters for base64 (RFC 4648 §5). */
function isBase64(audio: string, decodedBytes: number): boolean {
  const isWhole = audio.length % 4 === 0 && decodedBytes === Buffer.byteLength(audio, 'base64');
  return isWhole && !audio.includes('-') && !audio.includes('_');
}
