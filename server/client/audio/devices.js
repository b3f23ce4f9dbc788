import { openAudio, openMicrophone } from './microphone.js';
import { Speaker } from './speaker.js';

/** @import { DeviceEvent, SpeakerListener, TalkOptions, TalkSpeaker } from '../types/api.d.ts' */
/** @import { MicrophoneChunk } from './microphone-worklet.js' */
/** @import { Microphone } from './microphone.js' */

/**
 * Opens the devices that the options ask for. A device that cannot be opened is reported and left
 * out.
 *
 * @param {Pick<TalkOptions, 'microphone' | 'speaker' | 'audio'>} options
 * @param {object} owner
 * @param {SpeakerListener} owner.listener
 * @param {(chunk: MicrophoneChunk) => void} owner.onChunk
 * @param {(event: DeviceEvent) => void} owner.onEvent
 * @returns {Promise<{ speaker: TalkSpeaker | undefined, close: () => void }>}
 */
export async function openDevices({ microphone = false, speaker = false, audio }, { listener, onChunk, onEvent }) {
  let context = audio;
  const sound = () => (context ??= openAudio());
  const openLoudspeaker = typeof speaker === 'function' ? speaker : () => Speaker.open(sound(), listener);
  const [microphoneInput, loudspeaker] = await Promise.all([
    microphone ? attempt(() => openUserMicrophone(sound(), onChunk, onEvent), 'microphone.failed', onEvent) : undefined,
    speaker === false ? undefined : attempt(() => openLoudspeaker(listener), 'speaker.failed', onEvent),
  ]);
  return {
    speaker: loudspeaker,
    close() {
      microphoneInput?.close();
      loudspeaker?.close();
      if (audio === undefined) void context?.close();
    },
  };
}

/**
 * @param {AudioContext} context
 * @param {(chunk: MicrophoneChunk) => void} onChunk
 * @param {(event: DeviceEvent) => void} onEvent
 * @returns {Promise<Microphone>}
 */
function openUserMicrophone(context, onChunk, onEvent) {
  const onEnded = () => onEvent({ type: 'microphone.failed', error: new Error('the microphone was unplugged') });
  return openMicrophone({ context, deviceId: '', onChunk, onEnded });
}

/**
 * @template Device
 * @param {() => Promise<Device>} open
 * @param {DeviceEvent['type']} type of the event that reports a failure
 * @param {(event: DeviceEvent) => void} onEvent
 * @returns {Promise<Device | undefined>}
 */
async function attempt(open, type, onEvent) {
  try {
    return await open();
  } catch (error) {
    onEvent({ type, error });
    return undefined;
  }
}
