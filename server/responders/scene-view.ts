import type { Circumstance } from '../../agents/agent.ts';
import type { Message } from '../../agents/chat.ts';
import { asHeard, graspOf, userSpeaks } from '../../agents/scene/hearing.ts';
import { knownIn, type StoryPlace } from '../../agents/scene/sections.ts';
import type { Character } from '../../characters/character.ts';
import { environmentId, type Scene, type SceneCast, type Section } from '../../characters/scene.ts';
import type { ReplyOptions } from '../session/contract/responder.ts';

/** One of the cast, or the narrator. */
export interface Participant extends Character {
  readonly motivation: string;
  readonly aliases?: readonly string[];
}

/** Returns what everybody knows: the circumstance, and what the present section is about. */
export function circumstanceIn(scene: Scene, section: Section | undefined, story: StoryPlace | undefined): string {
  return [scene.circumstance, ...knownTo('', section, story)].join('\n');
}

function knownTo(participant: string, section: Section | undefined, story: StoryPlace | undefined): string[] {
  return section === undefined ? [] : knownIn(section, participant, story?.given ?? {});
}

/** Returns the lines that are spoken without a model: the section's, or the scene's. */
export function scriptIn(scene: Scene, section: Section | undefined): Scene['script'] {
  return section === undefined || section.script.length === 0 ? scene.script : section.script;
}

/** A turn in a scene: `line` is what the script has for it. */
interface Part {
  readonly scene: Scene;
  readonly section: Section | undefined;
  readonly line: string | undefined;
}

/** Returns the conversation without what the user said and none of the characters noticed. */
export function noticedIn(history: readonly Message[], { cast }: SceneCast): readonly Message[] {
  return history.filter(
    (message) => message.role !== 'user' || cast.some(({ id }) => graspOf(message.heardBy, id) !== 'nothing'),
  );
}

/** Returns the conversation as one character has heard it: own words as said, those of others with their names. */
export function seenBy({ id, name, languages }: Participant, history: readonly Message[], scene: Scene): Message[] {
  return asHeard(history, id, languages[0]?.startsWith('zh') === true).map((message) => {
    if (message.role === 'assistant') {
      const { name: who, text } = message;
      return who === name ? { role: 'assistant', text } : { role: 'user', text: `${who ?? ''}: ${text}` };
    }
    return message.role === 'user'
      ? { role: 'user', text: `${message.by ?? userNameIn(scene)}: ${message.text}` }
      : message;
  });
}

export function userNameIn({ user }: Scene): string {
  return user === 'listener' ? 'Somebody' : user.name;
}

export function optionsFor(
  participant: Participant,
  participants: readonly Participant[],
  { scene, section, line }: Part,
  options: ReplyOptions,
): ReplyOptions {
  const user = scene.user === 'listener' ? [] : [scene.user];
  const others = [
    ...participants
      .filter(({ id }) => id !== participant.id && id !== environmentId)
      .map(({ name, identity }) => ({ name, profile: identity })),
    ...user,
  ];
  const circumstance: Circumstance = {
    motivation: participant.motivation,
    others,
    ...(line === undefined ? {} : { line }),
  };
  const { situation, feelings: _ofNobody, feelingsOf, ...rest } = options;
  const isEnvironment = participant.id === environmentId;
  const known = [scene.circumstance, ...knownTo(participant.id, section, options.story)].join('\n');
  const hearsUser = options.surroundings?.(participant.id).hears?.[userSpeaks] !== 0;
  const feelings = isEnvironment ? undefined : feelingsOf?.(participant.id);
  return {
    ...rest,
    ...(feelings === undefined ? {} : { feelings }),
    circumstance,
    recipe: isEnvironment ? 'dramatis' : (options.recipe ?? 'coser'),
    scene: isEnvironment
      ? environmentPrompt(known, others, participant.languages)
      : [known, options.scene].filter(Boolean).join('\n'),
    ...((situation === 'unclear' && hearsUser) || situation === 'event' ? { situation } : {}),
  };
}

function environmentPrompt(
  circumstance: string,
  others: Circumstance['others'],
  [language = 'en']: readonly string[],
): string {
  const names = others.map(({ name }) => name).join(', ');
  if (language.startsWith('zh'))
    return `你讲述场景中人物周围发生的事：环境的变化、声音、天气、旁人的举动。\n\n===场景===\n${circumstance}\n\n===人物===\n${names}\n\n用一到三个可以朗读的短句，说出刚才的话和举动之后发生了什么。绝不替这些人物说话、行动或做决定。`;
  return `You tell what happens around the people of a scene: changes of the place, sounds, weather, what bystanders do.\n\n===The scene===\n${circumstance}\n\n===The people===\n${names}\n\nTell what follows from what was said and done last, in one to three short sentences that can be read aloud. Never speak, act or decide for these people.`;
}
