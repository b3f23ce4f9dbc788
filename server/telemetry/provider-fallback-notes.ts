import type { ExecutionReport } from '../../voices/onnx/execution.ts';

type Tell = (facts: object, text: string) => void;

/** Reports once, across threads, each model that does not run on the preferred provider. */
export function providerFallbackNotes(): {
  readonly take: (report: ExecutionReport) => void;
  tellTo(tell: Tell): void;
} {
  const told = new Set<string>();
  const held: [object, string][] = [];
  let tell: Tell | undefined;
  return {
    take({ model, provider, failed }) {
      if (failed.length === 0) return;
      const reasons = failed.map((each) => `${each.provider}: ${each.why}`).join('; ');
      const text = `${model} runs on ${provider}, because other providers failed (${reasons}). See \`dramatis doctor --gpu\`.`;
      if (told.has(text)) return;
      told.add(text);
      if (tell === undefined) held.push([{ model, provider }, text]);
      else tell({ model, provider }, text);
    },
    tellTo(to) {
      tell = to;
      for (const [facts, text] of held.splice(0)) to(facts, text);
    },
  };
}
