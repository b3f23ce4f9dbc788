import { messageOf, type Dialogue, type Turn } from '../records/dialogue.ts';

/** A message to the role, and its answer. */
export interface Exchange {
  readonly user: string;
  readonly reply: string;
  readonly userAudio?: string | undefined;
  readonly replyAudio?: string | undefined;
  /** Further recordings of the reply. */
  readonly moreReplyAudio?: readonly string[] | undefined;
}

/** A dialogue as one role takes part in it: what the exports write. */
export interface Conversation {
  readonly id: string;
  readonly role: string;
  readonly language: Dialogue['language'];
  readonly system: string;
  readonly exchanges: readonly Exchange[];
  readonly labels: Readonly<Record<string, unknown>>;
}

/** Stands for the words of the others where the role speaks first. */
export const openingMark = '===Conversation Start===';

/**
 * A dialogue as each of its roles takes part in it. The role of the marked turns is the one to learn; without marks, each
 * character is. What others say after the last answer is left out.
 */
export function conversationsOf(dialogue: Dialogue, only?: string): readonly Conversation[] {
  const { turns, labels = {} } = dialogue;
  const marked = turns.filter(({ target }) => target === true);
  const learned = marked.length > 0 ? marked : turns.filter(({ kind }) => kind === 'character');
  const roles = [...new Set(learned.map(({ speaker }) => speaker))];
  return roles
    .filter((role) => only === undefined || role === only)
    .map((role) => ({
      id: dialogue.id,
      role,
      language: dialogue.language,
      system: systemOf(dialogue, role),
      exchanges: exchangesOf(turns, role),
      labels,
    }))
    .filter(({ exchanges }) => exchanges.length > 0);
}

function exchangesOf(turns: readonly Turn[], role: string): readonly Exchange[] {
  const isAlone = new Set(turns.map(({ speaker }) => speaker)).size <= 2;
  const exchanges: Exchange[] = [];
  let heard: Turn[] = [];
  let own: Turn[] = [];
  const close = (): void => {
    if (own.length === 0) return;
    // A recording of one line is not one of several lines.
    const [listened, spoken] = [heard, own].map((side) => (side.length === 1 ? side[0] : undefined));
    exchanges.push({
      user:
        heard
          .map((turn) => (isAlone ? heardOf(turn) : `${turn.speaker}: ${heardOf(turn)}`))
          .filter(Boolean)
          .join('\n') || openingMark,
      reply: own.map((turn) => messageOf(turn)).join('\n'),
      ...(listened?.audio === undefined ? {} : { userAudio: listened.audio }),
      ...(spoken?.audio === undefined ? {} : { replyAudio: spoken.audio }),
      ...(spoken?.moreAudio === undefined ? {} : { moreReplyAudio: spoken.moreAudio }),
    });
    [heard, own] = [[], []];
  };
  for (const turn of turns) {
    if (turn.speaker === role) own.push(turn);
    else {
      close();
      heard.push(turn);
    }
  }
  close();
  return exchanges;
}

/** Thoughts of others stay unheard. */
function heardOf(turn: Turn): string {
  return messageOf(turn, { withThought: false });
}

function systemOf({ system, profiles, scene, language }: Dialogue, role: string): string {
  if (system !== undefined) return system;
  const isChinese = language === 'zh';
  return [
    isChinese ? `你是${role}。` : `You are ${role}.`,
    profiles?.[role] ?? '',
    scene === undefined ? '' : `${isChinese ? '场景：' : 'Scene: '}${scene}`,
  ]
    .filter(Boolean)
    .join('\n\n');
}
