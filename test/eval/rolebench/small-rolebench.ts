import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Roles of the small test sets. */
export const smallRoles = {
  en: ['Jack Sparrow', 'Twilight', 'Thor', 'Logan', 'Dredd'],
  zh: ['孙悟空', '张飞'],
} as const;

function lines(rows: readonly object[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}

/** Writes a test set of RoleBench in its true schema, English by instruction: 5 roles, 3 questions of each kind. */
export async function makeRoleBench(folder: string): Promise<void> {
  const put = async (name: string, text: string): Promise<void> => {
    const file = path.join(folder, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  };
  for (const [language, place] of [
    ['en', 'rolebench-eng/instruction-generalization'],
    ['zh', 'rolebench-zh'],
  ] as const) {
    const roles: readonly string[] = smallRoles[language];
    const isEnglish = language === 'en';
    const question = (role: string, at: number): string =>
      isEnglish ? ` ${role}, what is thing number ${at}? ` : `${role}，第${at}件事是什么？`;
    const answer = (role: string, at: number): string =>
      isEnglish ? ` Thing ${at} is mine, says ${role}, and I never lose it.` : `俺老${role}的第${at}件宝贝。`;
    const rows = (of: (role: string, at: number) => object): string =>
      lines(roles.flatMap((role) => [1, 2, 3].map((at) => of(role, at))));
    const asked = (role: string, at: number) => ({ role, question: question(role, at) });
    await put(
      `${place}/general/test.jsonl`,
      rows((role, at) => ({
        role,
        question: isEnglish ? `Add ${at} and 2.` : `${at}加2等于几？`,
        generated: [answer(role, at), answer(role, at + 1)],
      })),
    );
    await put(
      `${place}/role_specific/test.jsonl`,
      rows((role, at) => ({
        ...asked(role, at),
        generated: at === 3 ? [answer(role, 3), answer(role, 4)] : [answer(role, at)],
        type: at === 3 ? ['script_based', 'script_agnostic'] : at === 2 ? 'script_based' : ['script_agnostic'],
      })),
    );
    const baseline = (role: string, at: number): string =>
      isEnglish ? `Thing ${at}, ${role}.` : `第${at}件，${role}。`;
    await put(
      `${place}/general/rolegpt_baseline.jsonl`,
      rows((role, at) => ({
        role,
        question: isEnglish ? `Add ${at} and 2.` : `${at}加2等于几？`,
        generated: [baseline(role, at)],
      })),
    );
    await put(
      `${place}/role_specific/rolegpt_baseline.jsonl`,
      rows((role, at) => ({ role, question: question(role, at).trim(), generated: [baseline(role, at)] })),
    );
    const suffix = isEnglish ? 'eng' : 'zh';
    await put(
      `instructions-${suffix}/general.jsonl`,
      lines(
        [1, 2, 3].map((at) => ({
          instruction: isEnglish ? `Add ${at} and 2.` : `${at}加2等于几？`,
          answer: `${at + 2}`,
        })),
      ),
    );
    const desc = Object.fromEntries(roles.map((role) => [role, isEnglish ? `${role} is bold.` : `${role}很勇敢。`]));
    await put(`profiles-${suffix}/desc.json`, JSON.stringify(desc));
  }
}
