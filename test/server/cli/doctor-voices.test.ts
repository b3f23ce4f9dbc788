import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkVoices } from '../../../server/cli/doctor/voices.ts';
import { writeSmallCampplus } from '../../fakes/models/small-models.ts';
import { characters } from '../../rigs/serve-rig.ts';
import { testFolder } from '../../fakes/test-folder.ts';

const folder = testFolder();
const alice = characters.get('alice') ?? expect.fail('no Alice');

describe('doctor, voices', () => {
  it('reports nothing about voices if none are configured', async () => {
    expect(await checkVoices({ dataDir: folder }, characters.values())).toEqual([]);
  });

  it('tries the configured speaker encoder and voice quality models', async () => {
    const { modelPath: speakerEncoder, sha256 } = await writeSmallCampplus(path.join(folder, 'campplus.onnx'));
    const [good] = await checkVoices({ dataDir: folder, speakerEncoder }, []);
    expect(good).toMatchObject({ ok: true, says: `campplus-192@${sha256.slice(0, 12)}` });
    const both = await checkVoices({ dataDir: folder, speakerEncoder, dnsmos: path.join(folder, 'none.onnx') }, []);
    expect(both).toMatchObject([
      { what: 'speaker encoder', ok: true },
      { what: 'quality', ok: false, says: expect.stringContaining('sig_bak_ovr.onnx') },
    ]);
  });

  it('reports a configured voice model that cannot be used as an error, not as optional', async () => {
    const wrong = path.join(folder, 'wrong.onnx');
    await writeFile(wrong, 'not these');
    for (const settings of [{ dnsmos: wrong }, { speakerEncoder: wrong }, { dnsmosP808: wrong }]) {
      const [finding] = await checkVoices({ dataDir: folder, ...settings }, []);
      expect(finding).toMatchObject({ ok: false, remedy: expect.stringMatching(/DRAMATIS_(DNSMOS|SPEAKER_ENCODER)/) });
      expect(finding?.optional).toBeUndefined();
    }
  });

  it('reports cards whose library voice is missing', async () => {
    const cast = { ...alice, voice: { ...alice.voice, reference: 'nobody' } };
    expect(await checkVoices({ dataDir: folder }, [cast])).toMatchObject([
      { ok: false, says: expect.stringMatching(/alice .*no voice "nobody"/) },
    ]);
  });
});
