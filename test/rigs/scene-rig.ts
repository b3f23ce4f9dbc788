import type { ChatModel, Message } from '../../agents/chat.ts';
import { openAgents } from '../../agents/actor/open.ts';
import { loadSceneCasts } from '../../characters/scene.ts';
import { readCharacters } from '../../server/cast/cast.ts';
import { cascade } from '../../server/responders/responder.ts';
import { sceneResponder } from '../../server/responders/scene-responder.ts';
import { fakeRecognizer } from '../fakes/recognizer.ts';
import { fakeSynthesizer } from '../fakes/synthesizer.ts';
import { openRig } from './session-rig.ts';

export const characters = await readCharacters({});
export const stages = await loadSceneCasts('characters', characters);
export const sceneNamed = (id: string) => {
  const stage = stages.find((each) => each.id === `scene:${id}`)?.stage;
  if (stage === undefined) throw new Error(`no scene ${id}`);
  return stage;
};
export const garden = sceneNamed('the-locked-garden');

/** A session on a scene; `model` plays all characters and chooses the next speaker. */
export function openScene({
  model,
  stage = garden,
  hears = ['Alice, where is the cat?'],
}: { model?: ChatModel; stage?: typeof garden; hears?: string[] } = {}) {
  const mind = openAgents(model === undefined ? [] : [{ model }]);
  const recognizer = fakeRecognizer(hears);
  const voices: string[] = [];
  const responder = sceneResponder({
    stage,
    model,
    responderOf: (character) => {
      voices.push(character.id);
      const voice = { kind: 'preset', id: character.id } as const;
      return cascade({ recognizer, agent: mind(character), synthesizer: fakeSynthesizer(), voice });
    },
  });
  const { sections } = stage.scene;
  const rig = openRig({ responder, cast: stage.cast, ...(sections.length === 0 ? {} : { sections }) });
  const said = () =>
    rig.of('reply-item-ended').map(({ item }) => {
      const [part] = item.content;
      return [item.speaker?.id, part?.type === 'audio' ? (part.transcript ?? '') : ''] as const;
    });
  const begin = () => rig.send({ type: 'reply', request: { inConversation: true, situation: 'greeting' } });
  return { ...rig, voices, said, begin };
}

/**
 * Answers each request for the next speaker with the next name of `speakers`, and each request for a reply with that
 * speaker's line. An exception of `line` is passed on. `judges` answers requests to judge what has happened; 0 by default.
 */
export function actingModel(
  speakers: readonly string[],
  line: string | ((who: string) => string) = '[I know.] (nods) So it is, friends.',
  judges: (messages: readonly Message[]) => string = () => '0',
): ChatModel & { prompts: Message[][] } {
  const prompts: Message[][] = [];
  let next = 0;
  return {
    name: 'acting-model',
    prompts,
    async *chat(messages) {
      const asksWho = messages[0]?.text.includes('who speaks or acts next') === true;
      const judged = messages[0]?.text.includes('judge what has happened') === true ? judges(messages) : undefined;
      if (!asksWho && judged === undefined) prompts.push([...messages]);
      const who = /^You are ([^(.]+?)(?: \(|\.|,| from)/u.exec(messages[0]?.text ?? '')?.[1] ?? '';
      const text =
        judged !== undefined
          ? judged
          : asksWho
            ? (speakers[next++] ?? '<END CHAT>')
            : typeof line === 'string'
              ? line
              : line(who);
      yield { type: 'text-delta', text };
      yield { type: 'chat-end', reason: 'stop', inputTokens: 1, outputTokens: 1 };
    },
  };
}
