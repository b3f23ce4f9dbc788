import { WIRE_RATE } from './pcm.js';

/** @import { MicrophoneChunk } from './microphone-worklet.js' */

/**
 * An open microphone.
 *
 * @typedef {object} Microphone
 * @property {string} deviceId device chosen by the browser
 * @property {(muted: boolean) => void} mute a muted microphone delivers digital silence
 * @property {() => void} close
 */

/**
 * Requests the microphone and delivers its audio in 24 kHz chunks. Rejects with the browser's
 * `DOMException`.
 *
 * @param {object} options
 * @param {AudioContext} options.context the page's 24 kHz context, already resumed by a user
 *   gesture
 * @param {string} options.deviceId the empty string is the system's default
 * @param {(chunk: MicrophoneChunk) => void} options.onChunk
 * @param {() => void} options.onEnded called when the device is disconnected
 * @returns {Promise<Microphone>}
 */
export async function openMicrophone({ context, deviceId, onChunk, onEnded }) {
  const stream = await capture(deviceId);
  const [track] = stream.getAudioTracks();
  try {
    const source = await sourceNode(context, stream);
    const node = new AudioWorkletNode(source.context, 'dramatis-microphone', {
      channelCount: 1,
      channelCountMode: 'explicit',
    });
    node.port.onmessage = ({ data }) => onChunk(data);
    // The worklet writes no output; it is connected because browsers may not run a node without a destination.
    source.connect(node).connect(source.context.destination);
    track?.addEventListener('ended', onEnded);
    return {
      deviceId: track?.getSettings().deviceId ?? '',
      mute: (muted) => {
        if (track !== undefined) track.enabled = !muted;
      },
      close: () => {
        node.port.onmessage = null;
        source.disconnect();
        node.disconnect();
        stopTracks(stream);
        if (source.context !== context) void closeContext(source.context);
      },
    };
  } catch (error) {
    stopTracks(stream);
    throw error;
  }
}

/**
 * Lists the microphones for a picker. Labels are empty until the user has granted access once.
 *
 * @returns {Promise<MediaDeviceInfo[]>}
 */
export async function listMicrophones() {
  const devices = (await navigator.mediaDevices?.enumerateDevices()) ?? [];
  return devices.filter((device) => device.kind === 'audioinput' && !['', 'default'].includes(device.deviceId));
}

/** @param {string} deviceId */
async function capture(deviceId) {
  const audio = { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1 };
  if (deviceId === '') return navigator.mediaDevices.getUserMedia({ audio });
  try {
    return await navigator.mediaDevices.getUserMedia({ audio: { ...audio, deviceId: { exact: deviceId } } });
  } catch (error) {
    const isGone = error instanceof DOMException && ['OverconstrainedError', 'NotFoundError'].includes(error.name);
    if (!isGone) throw error;
    return navigator.mediaDevices.getUserMedia({ audio });
  }
}

/**
 * Creates a source node in the 24 kHz context. Firefox rejects a stream of a different rate; then a
 * second context at the device's own rate is used, and the worklet resamples.
 *
 * @param {AudioContext} context
 * @param {MediaStream} stream
 */
async function sourceNode(context, stream) {
  const worklet = new URL('./microphone-worklet.js', import.meta.url);
  try {
    const source = context.createMediaStreamSource(stream);
    await context.audioWorklet.addModule(worklet);
    return source;
  } catch (error) {
    if (!(error instanceof DOMException) || error.name !== 'NotSupportedError') throw error;
    const native = new AudioContext({ latencyHint: 'interactive' });
    await native.resume();
    await native.audioWorklet.addModule(worklet);
    return native.createMediaStreamSource(stream);
  }
}

/** @param {BaseAudioContext} context */
async function closeContext(context) {
  if (context instanceof AudioContext && context.state !== 'closed') await context.close();
}

/** @param {MediaStream} stream */
function stopTracks(stream) {
  for (const track of stream.getTracks()) track.stop();
}

/**
 * Opens the page's audio context at 24 kHz, so that playback needs no resampling here. Must be
 * called from a user gesture; otherwise browsers keep it suspended.
 *
 * @returns {AudioContext}
 */
export function openAudio() {
  const context = new AudioContext({ sampleRate: WIRE_RATE, latencyHint: 'interactive' });
  void context.resume();
  return context;
}
