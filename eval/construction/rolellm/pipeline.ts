import { rocitRow } from '../exports/formats.ts';
import type { Dialogue } from '../records/dialogue.ts';
import { readRoleSources } from '../roles/role-source.ts';
import type { Prompt } from '../runner/prompts.ts';
import type { OutputRow, Pipeline } from '../runner/stage.ts';
import { filterStage, instructStage, requestStage, shareOf, type Instruction } from './instruct.ts';
import { profileStage } from './profile.ts';

export interface RoleLlmOptions {
  /** Roles: see `readRoleSources`. */
  readonly input: string;
  readonly rights: string;
  readonly promptOf: (name: string) => Prompt;
  /** Questions to make for a role; 400 after the paper. */
  readonly candidates?: number | undefined;
  /** Questions that all roles answer. */
  readonly questions?: readonly string[] | undefined;
}

const usualCandidates = 400;
const testRoles = 0.2;

/** RoleLLM: profiles, Context-Instruct, RoleGPT's answers, and the training form RoCIT. */
export function roleLlmPipeline({
  input,
  rights,
  promptOf,
  candidates = usualCandidates,
  questions = [],
}: RoleLlmOptions): Pipeline {
  const own = (name: string): Prompt => promptOf(`rolellm/${name}`);
  return {
    name: 'context-instruct',
    about: 'Profiles of roles, and questions to them with answers, after RoleLLM (Context-Instruct, RoleGPT, RoCIT).',
    records: (signal) => readRoleSources(input, signal),
    stages: [profileStage(own), requestStage(candidates, questions), instructStage(own), filterStage()],
    rows: (record) => rowsOf(record as Instruction, rights),
  };
}

function rowsOf(instruction: Instruction, rights: string): readonly OutputRow[] {
  const { role, kind, question, answers, split } = instruction;
  const isChinese = role.language === 'zh';
  const part = kind === 'general' ? 'general' : 'role_specific';
  const [generated, baseline] = kind === 'general' ? [answers.slice(0, 5), answers.slice(5)] : [answers, []];
  const row = { role: role.name, question, generated, type: kind };
  const system = `${isChinese ? `你是${role.name}。` : `You are ${role.name}.`} ${role.description2}`;
  const byQuestion = isChinese ? 'rolebench-zh' : 'rolebench-eng/instruction-generalization';
  const byRole = shareOf(role.key) < testRoles ? 'test' : 'train';
  return [
    ...(instruction.isFirst ? roleRows(role, isChinese) : []),
    { file: 'dialogues.jsonl', value: dialogueOf(instruction, { system, rights }) },
    { file: `${byQuestion}/${part}/${split}.jsonl`, value: row },
    ...(isChinese ? [] : [{ file: `rolebench-eng/role-generalization/${part}/${byRole}.jsonl`, value: row }]),
    ...(split === 'test' && baseline.length > 0
      ? [{ file: `${byQuestion}/${part}/rolegpt_baseline.jsonl`, value: { ...row, generated: baseline } }]
      : []),
    ...(split === 'train'
      ? generated.map((answer) => ({ file: 'rocit.jsonl', value: rocitRow(system, question, answer) }))
      : []),
  ];
}

function roleRows(role: Instruction['role'], isChinese: boolean): readonly OutputRow[] {
  const { name, work, description, description2, catchphrases, isInvented, isKnown, isSecondPerson } = role;
  const facts = { role: name, work, description, description2, catchphrases, isInvented, isKnown, isSecondPerson };
  return [
    { file: 'profiles.jsonl', value: facts },
    { file: `profiles-${isChinese ? 'zh' : 'eng'}/desc.json`, value: description2, member: name },
  ];
}

function dialogueOf(
  { id, role, kind, question, answers, split, provenance }: Instruction,
  { system, rights }: { readonly system: string; readonly rights: string },
): Dialogue {
  return {
    id,
    language: role.language,
    source: role.work || role.name,
    rights,
    system,
    turns: [
      { speaker: 'User', kind: 'user', text: question },
      { speaker: role.name, kind: 'character', text: answers[0] ?? '', target: true },
    ],
    labels: { split, key: role.key, part: kind === 'general' ? 'general' : 'role_specific', type: kind },
    provenance: provenance as Dialogue['provenance'],
  };
}
