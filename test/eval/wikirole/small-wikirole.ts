import { writeFile } from 'node:fs/promises';
import { lastOf, type ChatRequest } from '../../fakes/servers/text-model-server.ts';

/** Six roles, three in each language, two questions each. */
export async function writeWikiRole(file: string): Promise<void> {
  const rows = Array.from({ length: 6 }, (_, at) => {
    const label = at % 2 === 0 ? `Person ${at}` : `人物${at}`;
    const others = [1, 2, 3].map((more) => `Other ${more}`);
    const lists = {
      role_consist_cands: [label, ...others],
      [at < 3 ? 'rejection_labels' : 'rejection labels']: [0, 1],
      evidence: ['- a fact', '- another'],
    };
    const meta = { label, lang: at % 2 === 0 ? 'en' : 'zh', summary: 'short', description: 'somebody' };
    const row = { system: `You are ${label}, somebody.`, prompts: ['Who are you?', 'What is a phone?'] };
    return at < 3 ? { ...row, meta: { ...meta, ...lists } } : { ...row, ...lists, meta };
  });
  await writeFile(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
}

/** A judge that finds every role in its answer, and a system that says who it is. */
export const wikiModels = {
  actor: ({ messages }: ChatRequest) => messages[0]?.content.replace('You are', 'I am') ?? '',
  judge(request: ChatRequest) {
    const prompt = lastOf(request);
    if (/^Write 1 if|^拒绝回答写1/m.test(prompt)) return '0';
    if (/most suitable role|最符合的角色/.test(prompt)) {
      const name = /I am ([^,]+),/.exec(prompt)?.[1] ?? '';
      return prompt.includes('最符合')
        ? `像他。\n最符合的角色为[${name}]。`
        : `Like them.\nThe most suitable role is [${name}].`;
    }
    return 'Right.\n8';
  },
};
