import { samplesFromBytes, type AudioFormat } from './audio-format.ts';

/** Usual text of the event that carries audio: its type and its audio, in this order and nothing else. */
const heads = [
  '{"type":"input_audio_buffer.append","audio":"',
  // As written by Python's `json.dumps`.
  '{"type": "input_audio_buffer.append", "audio": "',
].map((head) => Buffer.from(head));
const tail = Buffer.from('"}');

/** Scratch buffers for decoding: a microphone frame is 2 kB; a second of audio fits in as well. */
const bytes = Buffer.allocUnsafeSlow(64 * 1024);
const floats = new Float32Array(32 * 1024);

/**
 * Returns the audio of an `input_audio_buffer.append`, without allocating a string and an object for each of 25 frames
 * a second of every client. The next call overwrites it. Undefined if the frame has another form or is invalid: then it
 * must be parsed.
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

/**
 * Returns true for valid, padded base64. Node skips invalid characters, so that fewer bytes come out; but it also
 * accepts the two characters of base64url (RFC 4648 §5).
 */
function isBase64(audio: string, decodedBytes: number): boolean {
  const isWhole = audio.length % 4 === 0 && decodedBytes === Buffer.byteLength(audio, 'base64');
  return isWhole && !audio.includes('-') && !audio.includes('_');
}
