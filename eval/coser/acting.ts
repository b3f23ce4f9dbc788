import { createHash } from 'node:crypto';
import { endMark } from '../../agents/scene/next-speaker.ts';
import type { TextConversation } from '../agents/text-agent.ts';
import { EvalError } from '../eval-error.ts';
import type { Judge } from '../judge/judge.ts';
import { seededRandom } from '../statistics.ts';
import type { EvalContext } from '../task.ts';
import type { Spoken, TextSystems } from '../text/text-task.ts';
import type { Circumstance } from './circumstances.ts';
import type { CoserConfig } from './config.ts';
import { cutRepetition, environment, named, perceived, type SceneMessage } from './messages.ts';
import { Chooser, type Choice } from './next-speaker.ts';
import type { Recall } from './recall.ts';
import { add, askWith, sampling, start, textsOf, type Turn } from './turns.ts';

/** A message of an acted scene. */
export interface ActedMessage extends SceneMessage {
  /** Taken over from the original. */
  readonly isGiven: boolean;
  /** Sound and times, if a character of the system under test said it. */
  readonly spoken?: Spoken;
}

/** An acted scene. */
export interface ActedScene {
  readonly messages: readonly ActedMessage[];
  readonly choices: readonly Choice[];
  /** Replies cut since they repeated themselves. */
  readonly cuts: number;
}

/** The scene may end after this many messages. */
const leastMessages = 6;
/** Models and settings with which a scene is acted. */
export interface Stage {
  readonly systems: TextSystems;
  readonly config: CoserConfig;
  readonly context: EvalContext;
  readonly recall: Recall | undefined;
}

/**
 * Acts a scene: a speaker says something, a model chooses who is next, for up to 20 messages. A character reads the
 * others without their thoughts.
 */
export async function actScene(circumstance: Circumstance, stage: Stage): Promise<ActedScene> {
  const { config, context, systems } = stage;
  const { reference, speakers, id } = circumstance;
  const given = reference.slice(0, config.continueFrom);
  await using cast = new Cast(circumstance, stage);
  const chooser = new Chooser(circumstance, {
    model: modelOf(systems, 'next-speaker'),
    random: seededRandom(seedOf(`${config.seed}/${id}`)),
    system: stage.systems.prompts.fill('coser/next-speaker.txt', {
      names: speakers.join(', '),
      scenario: circumstance.scenario,
    }).system,
    isStrict: config.parser === 'strict',
  });
  const messages: ActedMessage[] = [];
  let speaker = config.firstSpeaker === 'original' || given.length > 0 ? reference[0]?.character : speakers[0];
  for (let round = 0; round < config.rounds && speaker !== undefined && speaker !== endMark; round += 1) {
    const known = given[round];
    const message: ActedMessage = known === undefined ? await cast.speak(speaker) : { ...known, isGiven: true };
    messages.push(message);
    cast.hear(message);
    chooser.hear(message);
    const following = reference[round + 1];
    if (round < given.length && following !== undefined) {
      chooser.follow(following.character);
      speaker = following.character;
    } else speaker = await chooser.next(speaker, { canEnd: messages.length >= leastMessages, context });
  }
  return { messages, choices: chooser.choices, cuts: cast.cuts };
}

/** The characters and the environment, each with its own conversation. */
class Cast implements AsyncDisposable {
  readonly #circumstance: Circumstance;
  readonly #stage: Stage;
  /** Messages that each has said and heard, oldest first. */
  readonly #histories: ReadonlyMap<string, Turn[]>;
  readonly #open = new Map<string, TextConversation>();
  cuts = 0;

  constructor(circumstance: Circumstance, stage: Stage) {
    this.#circumstance = circumstance;
    this.#stage = stage;
    this.#histories = new Map(circumstance.speakers.map((name) => [name, [{ role: 'user', parts: [start] }]]));
  }

  /** Passes a message on to all; its speaker keeps the thoughts. */
  hear(message: SceneMessage): void {
    for (const [name, history] of this.#histories) {
      if (name === message.character) add(history, 'assistant', message.text);
      else add(history, 'user', named(perceived(message)));
    }
  }

  async speak(name: string): Promise<ActedMessage> {
    const { config } = this.#stage;
    const said = name === environment ? await this.#surroundings() : await this.#character(name);
    const whole = said.text.trim();
    const text = config.cutRepetition ? cutRepetition(whole) : whole;
    if (text !== whole) this.cuts += 1;
    if (text === '') throw new EvalError('agent', `${this.#circumstance.id}: ${name} has said nothing.`);
    return { character: name, text, isGiven: false, ...(said.spoken === undefined ? {} : { spoken: said.spoken }) };
  }

  async #character(name: string): Promise<{ readonly text: string; readonly spoken: Spoken }> {
    const { systems, config, context, recall } = this.#stage;
    const { id, language, book, plot } = this.#circumstance;
    const history = this.#histories.get(name) ?? [];
    const wasOpen = this.#open.get(name);
    // What is recalled changes the prompt, so each message then needs its own conversation.
    const recalled = await recall?.({ book, plot, character: name, query: textsOf(history).slice(-3).join('\n\n') });
    if (recall !== undefined) await wasOpen?.[Symbol.asyncDispose]();
    const isNew = wasOpen === undefined || recall !== undefined;
    const conversation = isNew
      ? await systems.agent.open(
          { sample: id, role: name, language, system: this.#promptOf(name, recalled ?? ''), ...sampling },
          context,
        )
      : wasOpen;
    this.#open.set(name, conversation);
    if (isNew) for (const { role, parts } of history.slice(0, -1)) conversation.remember(role, parts.join('\n\n'));
    const { parts = [] } = history.at(-1) ?? {};
    const { text, audio, firstAudioMs, heard, fallback } = await conversation.say(sayable(parts, config.speech));
    return { text, spoken: { audio, firstAudioMs, heard, fallback } };
  }

  async #surroundings(): Promise<{ readonly text: string; readonly spoken?: undefined }> {
    const { systems, context } = this.#stage;
    const { majors, scenario } = this.#circumstance;
    const names = majors.filter((name) => name !== environment).join(', ');
    const { system } = systems.prompts.fill('coser/environment.txt', { names, scenario });
    const turns = this.#histories.get(environment) ?? [];
    return askWith(modelOf(systems, 'environment'), { system, turns }, context);
  }

  #promptOf(name: string, recalled: string): string {
    const { systems, config } = this.#stage;
    const { book, actors, scenario } = this.#circumstance;
    const self = actors.find((each) => each.name === name);
    const others = actors.filter((each) => each.name !== name && each.profile !== '');
    const file = config.withoutThoughts ? 'coser/character-without-thoughts.txt' : 'coser/character.txt';
    return systems.prompts.fill(file, {
      name,
      book,
      scenario,
      profile: self?.profile ?? '',
      motivation: self?.motivation ?? '',
      others: others.map((each) => `${each.name}: ${each.profile}`).join('\n\n'),
      recalled,
    }).system;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#open.values()].map((each) => each[Symbol.asyncDispose]()));
  }
}

/** The mark of the beginning is for readers; aloud it would be noise. */
function sayable(parts: readonly string[], isSpoken: boolean): string {
  if (!isSpoken) return parts.join('\n\n');
  const said = parts.filter((part) => part !== start).join('\n');
  return said === '' ? 'Please begin.' : said;
}

function modelOf({ models }: TextSystems, part: string): Judge {
  const model = models.get(part);
  if (model === undefined) throw new EvalError('usage', `--${part} is required: URL#MODEL.`);
  return model;
}

/** A seed from a text, so that chance does not depend on which scene is acted first. */
function seedOf(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32LE(0);
}
