import type { ChatModel, Message } from '../../agents/chat.ts';
import { graspOf, listenersTo, type Clarity } from '../../agents/scene/hearing.ts';
import { edgeMet, sectionIn, type Edge, type StoryPlace } from '../../agents/scene/sections.ts';
import { isBrokenOff, nextByAddress, nextSpeaker, type Choice } from '../../agents/scene/next-speaker.ts';
import type { Character } from '../../characters/character.ts';
import { environmentId, environmentNames, type Scene, type SceneCast, type Section } from '../../characters/scene.ts';
import { untilBreakIn } from './character-interruption.ts';
import { circumstanceIn, noticedIn, optionsFor, scriptIn, seenBy, userNameIn, type Participant } from './scene-view.ts';
import { breathMs, userTurnMs } from './turn-order.ts';
import type { ReplyOptions, Responder, SpokenPart } from '../session/contract/responder.ts';

/** The participants of a scene, and how they are chosen and made. */
export interface SceneParticipants {
  readonly stage: SceneCast;
  /** Makes the responder of one of the cast, with its own voice. */
  readonly responderOf: (character: Character) => Responder;
  /** Chooses the next speaker; without one the script decides, then the addressee of the last words. */
  readonly model?: ChatModel | undefined;
}

/** The scene ends after this many turns in a row without words. */
const mostSilentTurns = 3;

/**
 * Several characters as one responder: each reply is the turn of one, who is named first. One that only acts has had
 * its turn. When the scene is over, or it is the user's turn, the reply says so. The history distinguishes them by
 * `name`; a line that breaks off was interrupted.
 */
export function sceneResponder({ stage, responderOf, model }: SceneParticipants): Responder {
  const participants = participantsOf(stage);
  const [first] = participants;
  if (first === undefined) throw new Error('the scene has no participants');
  const responders = new Map(participants.map((participant) => [participant.id, responderOf(participant)]));
  const listener = responders.get(first.id) ?? responderOf(first);
  return {
    sampleRate: listener.sampleRate,
    listen: (audio, options) => listener.listen(audio, options),
    goesOn: true,
    async *reply(talk, options) {
      if (options.situation === 'nod') return;
      // The characters do not hear a user who only listens.
      const history = stage.scene.user === 'listener' ? talk.filter(({ role }) => role !== 'user') : [...talk];
      const done: CuePart[] = [];
      let section = sectionIn(stage.scene, options.story);
      for (let silent = 0; silent < mostSilentTurns; silent += 1) {
        const { signal, passesUser = false } = options;
        const direction = { stage, model, signal, silent, passesUser, section, story: options.story };
        const [turn, edge] = await decide(noticedIn(history, stage), participants, direction);
        if (section !== undefined && edge !== undefined) {
          yield { type: 'section', from: section.id, on: edge.on };
          section = stage.scene.sections.find(({ id }) => id === edge.to) ?? section;
        }
        if (turn === undefined) break;
        if (turn === 'user') {
          yield* done;
          yield { type: 'users-turn' };
          return;
        }
        const { participant, line } = turn;
        yield { type: 'speaker', speaker: { id: participant.id, name: participant.name } };
        const seen = seenBy(participant, history, stage.scene);
        const acting = responders.get(participant.id) ?? listener;
        const parts = acting.reply(
          seen,
          optionsFor(participant, participants, { scene: stage.scene, section, line }, options),
        );
        // Without a model, script lines are played in full.
        const isScripted = model === undefined && line !== undefined;
        const held = isScripted ? parts : untilBreakIn(parts, turnOrderOf(participant, participants, history, options));
        const acted = yield* untilSpoken(afterBreath(held, pauseBefore(participant, history)), done);
        if (acted === undefined) return;
        for (const each of acted)
          done.push({ type: 'cue', kind: 'narration', text: `${participant.name}: ${each}`, afterLetters: 0 });
        const text = acted.map((each) => `(${each})`).join(' ') || '...';
        history.push({ role: 'assistant', name: participant.name, text });
      }
      yield* done;
      yield { type: 'scene-end' };
    },
  };
}

function participantsOf({ scene, cast, environment }: SceneCast): Participant[] {
  const characters = cast.map((character, index) => ({
    ...character,
    motivation: scene.characters[index]?.motivation ?? '',
  }));
  return environment === undefined
    ? characters
    : [...characters, { ...environment, motivation: '', aliases: environmentNames }];
}

interface Direction {
  readonly section: Section | undefined;
  readonly story: StoryPlace | undefined;
  readonly stage: SceneCast;
  readonly model: ChatModel | undefined;
  readonly signal: AbortSignal;
  /** Number of the last turns that had no words: they do not count. */
  readonly silent: number;
  readonly passesUser: boolean;
}

/** Asks who speaks next, and at the same time whether a condition of the section is met: both take a call of the model. */
function decide(
  history: readonly Message[],
  participants: readonly Participant[],
  direction: Direction,
): Promise<[Awaited<ReturnType<typeof turnOf>>, Edge | undefined]> {
  const { stage, model, signal, silent, section, story } = direction;
  const isJudged = section !== undefined && model !== undefined && silent === 0;
  const talk = {
    circumstance: circumstanceIn(stage.scene, section, story),
    history,
    userName: userNameIn(stage.scene),
  };
  return Promise.all([
    turnOf(talk, participants, direction),
    isJudged ? edgeMet(section, talk, model, signal) : undefined,
  ]);
}

/** Returns the next speaker, and its line in the script; undefined if the scene is over. */
async function turnOf(
  { circumstance, history }: Pick<Choice<Participant>, 'circumstance' | 'history'>,
  participants: readonly Participant[],
  { stage: { scene }, model, signal, silent, passesUser, section }: Direction,
): Promise<{ readonly participant: Participant; readonly line?: string } | 'user' | undefined> {
  const script = scriptIn(scene, section);
  const turns = history.filter(({ name }) => name !== undefined);
  if (turns.length - silent >= scene.turns) return undefined;
  const last = history.at(-1);
  const isToUser = last?.role === 'user';
  const next = isToUser ? undefined : script[spokenOf(script, participants, turns)];
  const scripted = next === undefined ? undefined : participants.find(({ id }) => id === next.speaker);
  const withLine = (participant: Participant): { readonly participant: Participant; readonly line?: string } =>
    next !== undefined && participant === scripted ? { participant, line: next.text } : { participant };
  if (scripted !== undefined && (model === undefined || turns.length === 0)) return withLine(scripted);
  // Those answer who have heard what was said last.
  const others = participants.filter(({ id, name }) => id !== environmentId && name !== last?.name);
  const characters = listenersTo(others, heardByIn(last));
  const choice: Choice<Participant> = {
    circumstance,
    candidates: participants.filter((one) => !others.includes(one) || characters.includes(one)),
    // The environment is never addressed; without a model it has nothing to say but its script.
    callable: characters,
    last: last?.name,
    history,
    turns: turns.length,
    userName: userNameIn(scene),
    mayBeUser: last?.name !== undefined && scene.user !== 'listener' && !passesUser,
  };
  if (model === undefined) {
    if (script.length > 0 && !isToUser) return undefined;
    const participant = nextByAddress(choice);
    return participant === undefined ? undefined : { participant };
  }
  const chosen = await chosenBy(model, choice, signal);
  if (chosen === 'user') return chosen;
  return chosen === 'end' || chosen === undefined ? undefined : withLine(chosen);
}

/** A character that has just interrupted speaks at once; otherwise the model chooses. */
async function chosenBy(model: ChatModel, choice: Choice<Participant>, signal: AbortSignal) {
  const isCut = isBrokenOff(choice.history.at(-1)?.text ?? '');
  return isCut ? nextByAddress(choice) : await nextSpeaker(choice, model, signal);
}

/** Returns how many lines of the script have been said, completely or in part. */
function spokenOf(script: Scene['script'], participants: readonly Participant[], turns: readonly Message[]): number {
  let next = 0;
  for (const turn of turns) {
    const said = spokenWords(turn.text);
    const at = script.findIndex(({ speaker, text }, index) => {
      const isTheirs = participants.find(({ id }) => id === speaker)?.name === turn.name;
      return index >= next && isTheirs && said !== '' && spokenWords(text).startsWith(said);
    });
    if (at >= 0) next = at + 1;
  }
  return next;
}

function spokenWords(text: string): string {
  return text
    .replaceAll(/\([^)]*\)|\[[^\]]*\]|（[^）]*）|【[^】]*】/gu, '')
    .replaceAll(/[^\p{L}\p{N}]+/gu, '')
    .toLowerCase();
}

function heardByIn(message: Message | undefined): Clarity | undefined {
  return message?.role === 'user' || message?.role === 'assistant' ? message.heardBy : undefined;
}

/** Longest duration of a turn, given what was said of it: the addressee may interrupt, unless it just did. */
function turnOrderOf(
  participant: Participant,
  participants: readonly Participant[],
  history: readonly Message[],
  { surroundings }: Pick<ReplyOptions, 'surroundings'>,
): (said: string) => number {
  const hearing = (id: string): Clarity => ({ [id]: surroundings?.(id).hears?.[participant.id] ?? 1 });
  const candidates = participants.filter(({ id }) => id !== environmentId && graspOf(hearing(id), id) === 'words');
  if (participant.id === environmentId || isBrokenOff(history.at(-1)?.text ?? '')) return () => Infinity;
  return (said) => {
    const talk: Message[] = [...history, { role: 'assistant', name: participant.name, text: said }];
    const claimant = nextByAddress({ candidates, history: talk, last: participant.name });
    return claimant === undefined ? Infinity : userTurnMs(participant.turnTaking, claimant.turnTaking);
  };
}

/** Returns the silence before a turn, in milliseconds. */
function pauseBefore(participant: Participant, history: readonly Message[]): number {
  const last = history.at(-1);
  return last === undefined || isBrokenOff(last.text) ? 0 : breathMs(participant.turnTaking);
}

type CuePart = Extract<SpokenPart, { type: 'cue' }>;

/** Yields the parts of a turn, with `before` in front of the first word; without words, returns the actions. */
async function* untilSpoken(
  parts: AsyncIterable<SpokenPart>,
  before: readonly CuePart[],
): AsyncGenerator<SpokenPart, string[] | undefined> {
  const held: CuePart[] = [];
  let isSilent = true;
  for await (const part of parts) {
    if (part.type === 'cue' && isSilent) {
      held.push(part);
      continue;
    }
    const text = part.type === 'speech' ? part.chunk.text : part.type === 'text' ? part.text : '';
    if (isSilent && text.trim() !== '') {
      isSilent = false;
      yield* before;
      yield* held;
    }
    yield part;
  }
  return isSilent ? held.filter(({ kind }) => kind === 'action').map(({ text }) => text) : undefined;
}

/** Yields the parts of a reply, with `ms` of silence before its audio. */
async function* afterBreath(parts: AsyncIterable<SpokenPart>, ms: number): AsyncIterable<SpokenPart> {
  let isFirst = ms > 0;
  for await (const part of parts) {
    if (isFirst && part.type === 'speech') {
      const { sampleRate, atMs } = part.chunk.frame;
      const samples = new Float32Array(Math.round((ms / 1000) * sampleRate));
      const frame = { samples, sampleRate, atMs };
      yield { type: 'speech', chunk: { text: '', frame, words: [] }, emotion: part.emotion, intensity: part.intensity };
      isFirst = false;
    }
    yield part;
  }
}
