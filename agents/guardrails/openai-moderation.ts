import { z } from 'zod';
import { addressOf, baseUrlSchema, bearer } from '../../voices/calls/base-url.ts';
import type { Adapter } from '../../voices/calls/context.ts';
import { badReply } from '../../voices/calls/http-faults.ts';
import { sendForJson } from '../../voices/calls/http.ts';
import type { Moderation } from './content-judge.ts';
import type { ContentCategory } from './content-words.ts';

const settings = z.strictObject({
  /** Includes the version, for example `https://api.openai.com/v1`. */
  baseUrl: baseUrlSchema,
  model: z.string().min(1),
});

const reply = z.object({
  results: z.array(z.looseObject({ categories: z.record(z.string(), z.boolean().nullable()) })).min(1),
});

/** Our category for one of the server's, such as `violence/graphic`. */
const known: readonly (readonly [RegExp, ContentCategory])[] = [
  [/minor|child/i, 'sexual_minors'],
  [/sexual|erotic|nud/i, 'sexual'],
  [/hate|discriminat/i, 'hate'],
  [/harass|bully|insult|toxic/i, 'harassment'],
  [/self.?harm|suicide/i, 'self_harm'],
  [/violen|gore|threat/i, 'violence'],
  [/drug/i, 'drugs'],
  [/profan|obscen|vulgar/i, 'profanity'],
  [/illicit|crim|weapon|dangerous/i, 'illicit'],
];

/** Any server with OpenAI's `POST /moderations`. Categories that we do not know count as `illicit`. */
export const adapter: Adapter<Moderation, z.infer<typeof settings>> = {
  settings,
  callPolicy: () => ({ concurrency: 16, retries: 0, timeouts: { firstByteMs: 2_000, betweenBytesMs: 1_000 } }),
  open({ baseUrl, model }, context) {
    const { name, key, calls } = context;
    const url = addressOf(baseUrl, '/moderations');
    return {
      name,
      categoriesOf: (text, options) =>
        calls.once(async ({ signal }) => {
          const answer = await sendForJson(
            context,
            { url, json: { model, input: text }, headers: bearer(key) },
            { signal },
          );
          const parsed = reply.safeParse(answer);
          if (!parsed.success) throw badReply(context, 'no moderation results');
          const flagged = parsed.data.results.flatMap(({ categories }) =>
            Object.entries(categories).flatMap(([category, is]) => (is === true ? [category] : [])),
          );
          return flagged.map((category) => known.find(([pattern]) => pattern.test(category))?.[1] ?? 'illicit');
        }, options),
    };
  },
};
