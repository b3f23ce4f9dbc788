import type { ServerError } from '../../client/types/api.d.ts';
import type { Character } from '../parts/characters.js';
import type { Messages } from './messages.js';
import type { SceneNews } from '../parts/scene-view.js';
import type { TalkState } from './talk-state.js';
import type { Transcript } from './transcript.js';

/** What one talk with one character, or one scene, is made of. */
export interface TalkOptions {
  readonly character: Character;
  readonly key: string;
  /** Whom the character is to remember; the empty string for nobody. */
  readonly user: string;
  /** Whether what characters think is told, too. */
  readonly thoughts: boolean;
  readonly transcript: Transcript;
  readonly messages: Messages;
  readonly microphoneId: () => string;
  readonly onState: (state: TalkState) => void;
  /** Of the microphone, root mean square. */
  readonly onLevel: (level: number) => void;
  /** Of the character, root mean square. */
  readonly onVoice: (level: number) => void;
  readonly onScene: (news: SceneNews) => void;
  /** A microphone was opened: the browser now tells names. */
  readonly onMicrophone: () => void;
  readonly onRefused: (error: ServerError | undefined) => void;
}
