import { describe, expect, it } from 'vitest';
import { performanceScript } from '../../../agents/output/performance.ts';
import { speakable } from '../../../voices/text/speakable.ts';

/** Output of models told to write speech alone, and the part that is spoken. */
const scripts: readonly (readonly [script: string, spoken: string])[] = [
  ['[sad] He is gone. ［angry］Never!', 'He is gone. Never!'],
  ['(sad) He is gone.', 'He is gone.'],
  ['[sad', ''],
  ['Come in. (laughs', 'Come in.'],
  ['Come in. *bows', 'Come in.'],
  ['我（笑）不知道啊。', '我不知道啊。'],
  ['好啊（笑）。', '好啊。'],
  ['哈哈哈（大笑），你输了。', '哈哈哈，你输了。'],
  ['（他缓缓地站起身来，走到窗前，望着远处的山峦，沉默了许久，这才慢慢转过头来）师父说得对。', '师父说得对。'],
  ['【悲伤】师父走了。', '师父走了。'],
  ['[悲伤]师父走了。', '师父走了。'],
  ['〔叹气〕罢了。', '罢了。'],
  ['*我微微一笑* 你来了。', '你来了。'],
  ['*I lean back in my chair.* You are late.', 'You are late.'],
  ['*I smile at you* Sit down.', 'Sit down.'],
  ['**bows deeply** Good evening.', 'Good evening.'],
  ['_bows deeply_ Good evening.', 'Good evening.'],
  ['{smiles} Good evening.', 'Good evening.'],
  ['(laughs (quietly) to himself) Good evening.', 'Good evening.'],
  ['[whispers [very low]] Good evening.', 'Good evening.'],
  ['(OOC: is this okay? I can change it.) Good evening.', 'Good evening.'],
  ['((out of character: sorry)) Good evening.', 'Good evening.'],
  ['（备注：以上为角色回答）', ''],
  ['[Note: the tone is kept.] Good evening.', 'Good evening.'],
  ['Good evening. 😀👍🏽 Sit down! 🎉', 'Good evening. Sit down!'],
  ['**Never** trust *him*, sir.', 'Never trust him, sir.'],
  ['See https://www.example.org/a?b=c for it.', 'See example.org for it.'],
  ['(nervous) I do not know. (excited) Come!', 'I do not know. Come!'],
  ['<laughs> Good evening. <sigh/> Sit.', 'Good evening. Sit.'],
  ['~♪ La la ♪~ Good evening.', 'La la Good evening.'],
  ['He came in 1891 (in May). Then 3.5 miles on.', 'He came in 1891 (in May). Then 3.5 miles on.'],
  ['长安（今西安）很大。', '长安（今西安）很大。'],
  ['He came. (You know him.) So.', 'He came. (You know him.) So.'],
  ['*Never* say that. *You never know.* Yes.', 'Never say that. You never know. Yes.'],
  ['Good evening. [pause] [beat] Sit.', 'Good evening. Sit.'],
  ['[[laughs]] Good evening.', 'Good evening.'],
  ['（笑）（叹气）罢了。', '罢了。'],
  ['Good *evening* [sad] my friend.', 'Good evening my friend.'],
  ['[ sad ] Good evening.', 'Good evening.'],
  ['[SAD] Good evening.', 'Good evening.'],
  ['[emotion: sad] Good evening.', 'Good evening.'],
  ['[sad, tender] Good evening.', 'Good evening.'],
  ['<sad>Good evening.</sad>', 'Good evening.'],
  ['*sad* Good evening.', 'Good evening.'],
  ['(in a low voice): Good evening.', 'Good evening.'],
  ['*adjusts hat* Good evening. *adjusts his deerstalker, then sits*', 'Good evening.'],
  ['Good evening.\n\n---\n*The rain falls.*', 'Good evening.'],
  ['（smiles）师父请坐。', '师父请坐。'],
  ['He said (and I quote) nothing.', 'He said (and I quote) nothing.'],
];

/** The text that reaches the synthesizer when a script streams in these deltas. */
async function spokenOf(deltas: readonly string[]): Promise<string> {
  const script = performanceScript();
  function* parts(): Generator<string> {
    for (const delta of deltas) for (const part of script.add(delta)) if (part.type === 'speech') yield part.text;
    for (const part of script.rest()) if (part.type === 'speech') yield part.text;
  }
  async function* texts(): AsyncGenerator<string> {
    yield* parts();
  }
  return (await Array.fromAsync(speakable(texts()))).join('').trim().replaceAll(/\s+/gu, ' ');
}

describe('speech-only script', () => {
  it.each(scripts)(
    'a speech-only script contains no tag or stage direction, however it is cut: %j',
    async (script, spoken) => {
      const signs = Array.from(script);
      const cuts = signs.map((_, at) => [signs.slice(0, at).join(''), signs.slice(at).join('')]);
      for (const deltas of [signs, ...cuts]) expect([deltas, await spokenOf(deltas)]).toEqual([deltas, spoken]);
    },
  );
});
