import type { TextRequest } from '../../../../eval/construction/runner/model.ts';
import type { Answers } from '../rig/scripted-model.ts';

const userText = (request: TextRequest): string => request.messages[1]?.content ?? '';
const systemText = (request: TextRequest): string => request.messages[0]?.content ?? '';

/** Answers for RoleLLM's build, distinguished by what is asked. */
export function roleLlmScript(): Answers {
  return {
    profile(request) {
      const system = systemText(request);
      if (system.includes('You test what is known'))
        return { questions: Array.from({ length: 5 }, (_, at) => ({ question: `Question ${at}?`, answer: `${at}` })) };
      if (system.includes('from memory')) return { answers: ['0', '1', '2', '3', 'unknown'] };
      if (system.includes('compare answers')) return { right: [true, true, true, true, false] };
      if (system.includes('catchphrases')) return { catchphrases: ['So be it.'] };
      return system.includes('second person') ? 'You are bold and patient.' : 'She is bold and patient.';
    },
    instruct(request) {
      if (systemText(request).startsWith('Play ')) return `I say of it: ${userText(request)}`;
      const lines = userText(request)
        .split('\n')
        .filter((line) => line.includes('「'));
      return Array.from({ length: 10 }, (_, at) => ({
        question: `Tell me of ${(lines[at * 2] ?? `matter ${at} ${userText(request).slice(-60)}`).slice(0, 60)}?`,
        confidence: at === 9 ? 'low' : 'high',
        reason: 'It is said.',
        answer:
          at === 8
            ? 'I am an AI and know nothing of such things.'
            : `That was so: ${lines[at] ?? 'I have forgotten it all by now.'}`,
        complete: at !== 7,
      }));
    },
  };
}
