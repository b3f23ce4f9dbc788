import type { Resumption, ServerError } from '../../client/types/api.d.ts';
import type { Character } from '../parts/characters.js';
import type { Messages } from './messages.js';
import type { Recording } from './recording.js';
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
  /** True if the transcript holds a conversation from before, which continues. */
  readonly isContinued?: boolean;
  /** The session of an earlier page, which is continued. */
  readonly resumption?: Resumption | undefined;
  readonly transcript: Transcript;
  readonly messages: Messages;
  readonly microphoneId: () => string;
  /** Settings of the user; by default full volume, and the server detects turns. */
  readonly settings?: { readonly volume: number; readonly isPushToTalk: boolean };
  /** Records both sides. */
  readonly recording?: Recording;
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
