import type { Judge } from '../judge/judge.ts';
import type { TextAgent } from './text-agent.ts';

/** A model on a chat server as the system under test. It has no system prompt of its own. */
export function chatAgent(model: Judge): TextAgent {
  return {
    name: model.name,
    attempt: (work, context) => work(context),
    async open({ system = '', temperature, maxTokens }, context) {
      const history: { role: 'user' | 'assistant'; content: string }[] = [];
      return {
        about: { model: model.name },
        remember: (role, content) => void history.push({ role, content }),
        async say(content) {
          const reply = await model.ask({ system, history: [...history], content, temperature, maxTokens }, context);
          const text = reply.text.trim();
          history.push({ role: 'user', content }, { role: 'assistant', content: text });
          return { text, heard: null, audio: null, firstAudioMs: null, fallback: null };
        },
        [Symbol.asyncDispose]: () => Promise.resolve(),
      };
    },
  };
}
