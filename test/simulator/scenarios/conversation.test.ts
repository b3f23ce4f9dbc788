import { describe, expect, it } from 'vitest';
import type { Scenario } from '../scenario.ts';
import {
  ask,
  babble,
  cough,
  greet,
  hear,
  hearOut,
  mute,
  say,
  send,
  unmute,
  until,
  update,
  wait,
  write,
} from '../step.ts';
import { wrongIn } from '../checks/suite.ts';
import type { PersonRun } from '../world.ts';

const holmes = { says: 'I am Holmes. I live in Baker Street.' };
const watson = { says: 'My friend Watson does.' };

describe('ordinary conversation', () => {
  it.each<Scenario>([
    {
      name: 'a question is transcribed, answered and kept in the history',
      engines: { thinks: [holmes] },
      script: [say('Who are you?'), hearOut],
      expect: { history: ['user: Who are you?', `assistant: ${holmes.says}`], replies: ['completed'], errors: [] },
    },
    {
      name: 'the character may speak first',
      engines: { thinks: [{ says: 'Good evening.' }, holmes] },
      script: [greet, hearOut, say('Who are you?'), hearOut],
      expect: {
        history: ['assistant: Good evening.', 'user: Who are you?', `assistant: ${holmes.says}`],
        replies: ['completed', 'completed'],
      },
    },
    {
      name: 'the LLM gets the whole conversation, each message once',
      engines: { thinks: [holmes, watson] },
      script: [say('Who are you?'), hearOut, say('Who writes it down?'), hearOut],
      expect: {
        replies: ['completed', 'completed'],
        also: ({ people: [ann] }) => {
          const told = ann?.engines[0]?.histories[1]?.map(({ text }) => text);
          const wanted = ['Who are you?', holmes.says, 'Who writes it down?'];
          return [JSON.stringify(told) !== JSON.stringify(wanted) && `it was told ${JSON.stringify(told)}`];
        },
      },
    },
    {
      name: 'typed text is answered with speech',
      engines: { thinks: [holmes] },
      script: [write('Who are you?'), hearOut],
      expect: { history: ['user: Who are you?', `assistant: ${holmes.says}`], replies: ['completed'] },
    },
    {
      name: 'a short pause does not end a turn',
      engines: { thinks: [holmes], completeness: [0.1] },
      script: [say('Who are'), wait(250), say('you?'), hearOut],
      expect: { history: ['user: Who are you?', `assistant: ${holmes.says}`] },
    },
    {
      name: 'speech that continues after a long pause is heard and answered once',
      engines: { thinks: [{ ...holmes, firstTokenMs: 2_500 }, watson] },
      script: [say('Who are you?'), wait(1_300), say('And who writes it down?'), hearOut],
      expect: { history: ['user: Who are you?', 'user: And who writes it down?', `assistant: ${watson.says}`] },
    },
    {
      name: 'a noise without words is not answered',
      script: [cough(700), wait(3_000)],
      expect: { replies: [], errors: [] },
    },
    {
      name: 'a click does not count as speech',
      script: [cough(60), wait(2_000)],
      expect: { replies: [], history: [] },
    },
    {
      name: 'an unclear utterance is met with a request to repeat it',
      engines: { hears: [{ unclear: true }], thinks: [{ says: 'Speak up!' }, holmes] },
      script: [say('Who are you?'), hearOut, say('Who are you?'), hearOut],
      expect: { replies: ['completed', 'completed'] },
    },
    {
      name: 'replies may be text without audio',
      session: { output_modalities: ['text'] },
      engines: { thinks: [holmes] },
      script: [say('Who are you?'), until('response.done'), wait(500)],
      expect: {
        history: ['user: Who are you?', `assistant: ${holmes.says}`],
        also: ({ people: [ann] }) => [isSpoken(ann) && 'it was spoken'],
      },
    },
    {
      name: 'an out-of-band response leaves no trace in the conversation, even during a reply',
      engines: { thinks: [holmes, { says: 'Aside.' }] },
      script: [
        say('Who are you?'),
        hear(2),
        send({ type: 'response.create', response: { conversation: 'none', output_modalities: ['text'] } }),
        hearOut,
      ],
      expect: { history: ['user: Who are you?', `assistant: ${holmes.says}`], replies: ['completed', 'completed'] },
    },
    {
      name: 'a character with an idle timeout speaks up after a silence',
      engines: { thinks: [holmes, { says: 'Are you there?' }] },
      script: [
        update({ audio: { input: { turn_detection: { type: 'server_vad', idle_timeout_ms: 5_000 } } } }),
        say('Who are you?'),
        wait(10_500),
        update({ audio: { input: { turn_detection: { type: 'server_vad', idle_timeout_ms: null } } } }),
      ],
      expect: { replies: ['completed', 'completed'] },
    },
    {
      name: 'a microphone that sends no silence is understood',
      sendsSilence: false,
      engines: { thinks: [holmes, watson] },
      script: [say('Who are you?'), hearOut, say('Who writes it down?'), hearOut],
      expect: { replies: ['completed', 'completed'] },
    },
    {
      name: 'a muted microphone is ignored, and heard again when unmuted',
      engines: { thinks: [holmes] },
      script: [mute, say('This is between us.'), wait(4_000), unmute, say('Who are you?'), hearOut],
      expect: { history: ['user: Who are you?', `assistant: ${holmes.says}`] },
    },
    {
      name: 'a sentence cut by muting is understood as far as it went',
      script: [say('Who are you?'), mute, wait(4_000), unmute],
      expect: { replies: ['completed'] },
    },
    {
      name: 'a monologue of half a minute is one turn',
      script: [babble(100), hearOut],
      expect: { replies: ['completed'] },
    },
    {
      name: 'a second response.create during a reply is refused',
      script: [write('Who are you?'), ask, hearOut],
      expect: { replies: ['completed'], errors: ['conversation_already_has_active_response'] },
    },
    {
      name: 'a client without our protocol extensions holds the same conversation',
      client: 'plain',
      engines: { thinks: [holmes, watson] },
      script: [say('Who are you?'), hearOut, say('Who writes it down?'), hearOut],
      expect: { replies: ['completed', 'completed'], errors: [] },
    },
    {
      name: 'a conversation of two minutes keeps every word',
      script: Array.from({ length: 16 }, (_, turn) =>
        turn % 4 === 3 ? [babble(3), hear(4)] : [babble(5), hearOut],
      ).flat(),
      expect: { errors: [] },
    },
  ])('$name', async (scenario) => {
    expect(await wrongIn(scenario)).toEqual([]);
  });
});

/** Checks that the first reply had audio. */
function isSpoken(ann: PersonRun | undefined): boolean {
  const first = [...(ann?.person.record.replies.values() ?? [])][0];
  return first?.itemIds.some((id) => ann?.person.speaker.received.has(id)) === true;
}
