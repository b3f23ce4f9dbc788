import type { ServerError } from '../../client/types/api.d.ts';
import type { Character } from '../parts/characters.js';
import type { Messages } from './messages.js';
import type { SceneEvent } from '../parts/scene-view.js';
import type { TalkState } from './talk-state.js';
import type { Transcript } from './transcript.js';

/** Options of a conversation with one character or scene. */
export interface TalkOptions {
  readonly character: Character;
  readonly key: string;
  /** User id for memories; the empty string for none. */
  readonly user: string;
  /** True to show the thoughts of characters, too. */
  readonly thoughts: boolean;
  readonly transcript: Transcript;
  readonly messages: Messages;
  readonly microphoneId: () => string;
  readonly onState: (state: TalkState) => void;
  /** Reports the level of the microphone, as RMS. */
  readonly onLevel: (level: number) => void;
  /** Reports the level of the character's voice, as RMS. */
  readonly onVoice: (level: number) => void;
  readonly onScene: (news: SceneEvent) => void;
  /** Called when a microphone was opened: the browser now reveals device labels. */
  readonly onMicrophone: () => void;
  readonly onRefused: (error: ServerError | undefined) => void;
}
