import { mixed, VRM } from '../mouth/viseme-tables.js';
import { Moments } from '../moments.js';
import { Lively } from './lively.js';

/** @import { LipSync, TalkEvent, Emotion } from '../types/api.d.ts' */

/**
 * The parts of a VRM of `@pixiv/three-vrm` that are moved here.
 *
 * @typedef {object} Rig
 * @property {{ setValue(name: string, weight: number): void } | null | undefined} [expressionManager]
 * @property {{ getNormalizedBoneNode(name: 'head'): { rotation: { x: number, y: number, z: number } } | null } | null | undefined} [humanoid]
 * @property {(deltaS: number) => void} update
 */

/** @typedef {ConstructorParameters<typeof Moments>[0]} OnAct */

/** Expressions of VRM 1.0 for the emotions that the server sends. @type {Readonly<Record<Emotion, Readonly<Record<string, number>>>>} */
const EMOTIONS = {
  calm: { relaxed: 0.3 },
  cheerful: { happy: 1 },
  tender: { relaxed: 0.7, happy: 0.3 },
  sad: { sad: 1 },
  angry: { angry: 1 },
  afraid: { surprised: 0.5, sad: 0.4 },
  surprised: { surprised: 1 },
};
const EXPRESSIONS = ['happy', 'relaxed', 'sad', 'angry', 'surprised'];
const MOUTH = ['aa', 'ih', 'ou', 'ee', 'oh'];
/** While it speaks, the lips belong to the words: an expression shows by half. */
const SPEAKING_SHARE = 0.5;
/** A mouth opens and shuts within 60 ms, a mood comes within 400 ms. */
const MOUTH_S = 0.06;
const MOOD_S = 0.4;
/** Level (RMS) at which a mouth whose shapes nobody knows is wide open. */
const LOUD = 0.2;
const SHAKE_S = 0.7;

/** Animates a VRM during a conversation: lips by the audio that is heard, mood by the emotion of the words, and idle movements. */
export class Avatar {
  #rig;
  #lively;
  #moments;
  #level = 0;
  /** @type {Emotion} */
  #emotion = 'calm';
  /** How strong it is, from 0 to 1. */
  #intensity = 1;
  /** Weights as they are drawn. @type {Record<string, number>} */
  #drawn = Object.fromEntries([...MOUTH, ...EXPRESSIONS].map((name) => [name, 0]));
  #shakenS = Infinity;
  /** The mouth that it shows: `talk.mouth`. @type {Pick<LipSync, 'weightsAt'>} */
  mouth;

  /**
   * @param {Rig} rig
   * @param {object} options
   * @param {Pick<LipSync, 'weightsAt'>} options.mouth of the talk, opened with `visemes: true`
   * @param {OnAct} [options.onAct] gets cues and actions as their word is heard; `nod` and `shake_head` are done here
   * @param {number} [options.seed] of its own life
   */
  constructor(rig, { mouth, onAct = () => {}, seed = 1 }) {
    this.#rig = rig;
    this.mouth = mouth;
    this.#lively = new Lively(seed);
    this.#moments = new Moments((event) => {
      const { name } = /** @type {{ name?: string }} */ (event);
      if (name === 'nod') this.#lively.nod();
      else if (name === 'shake_head') this.#shakenS = 0;
      else onAct(event);
    });
  }

  /** @param {TalkEvent} event every event of the talk */
  take(event) {
    this.#moments.take(event);
    switch (event.type) {
      case 'response.created':
        this.#lively.think();
        break;
      case 'response.output_audio_transcript.delta':
        if (event.x_dramatis?.emotion === undefined) break;
        this.#emotion = event.x_dramatis.emotion;
        this.#intensity = event.x_dramatis.intensity ?? 1;
        break;
      case 'playback.onset':
        this.#lively.speak();
        break;
      case 'playback.progress':
        this.#level = event.level;
        break;
      case 'playback.ended':
      case 'playback.stopped':
        this.#level = 0;
        break;
      case 'input_audio_buffer.speech_stopped':
        this.#lively.nod();
        break;
      default:
    }
  }

  /**
   * Moves the rig; call it for each frame, before rendering.
   *
   * @param {number} deltaS seconds since the last frame
   */
  update(deltaS) {
    const shapes = this.mouth.weightsAt();
    const lips = shapes === undefined ? { aa: Math.min(1, this.#level / LOUD) } : mixed(VRM, shapes);
    const isSpeaking = this.#level > 0;
    for (const name of MOUTH) this.#approach(name, lips[name] ?? 0, deltaS / MOUTH_S);
    const mood = EMOTIONS[this.#emotion];
    for (const name of EXPRESSIONS)
      this.#approach(name, (mood[name] ?? 0) * this.#intensity * (isSpeaking ? SPEAKING_SHARE : 1), deltaS / MOOD_S);
    const { blink, yaw, pitch } = this.#lively.update(deltaS);
    this.#rig.expressionManager?.setValue('blink', blink);
    this.#shakenS += deltaS;
    const shake = this.#shakenS < SHAKE_S ? 0.2 * Math.sin((4 * Math.PI * this.#shakenS) / SHAKE_S) : 0;
    const head = this.#rig.humanoid?.getNormalizedBoneNode('head');
    if (head) Object.assign(head.rotation, { x: pitch, y: yaw + shake });
    this.#rig.update(deltaS);
  }

  /**
   * @param {string} name
   * @param {number} wanted
   * @param {number} step the most that it may change
   */
  #approach(name, wanted, step) {
    const before = this.#drawn[name] ?? 0;
    const now = before + Math.max(-step, Math.min(step, wanted - before));
    this.#drawn[name] = now;
    this.#rig.expressionManager?.setValue(name, now);
  }
}
