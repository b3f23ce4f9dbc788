import { describe, expect, it } from 'vitest';
import { serve } from '../../rigs/serve-rig.ts';

describe('content security policy', () => {
  it('code injected into a page can send nothing to other hosts, change no base, post no form and embed nothing', async () => {
    const { app } = await serve();
    const { headers } = await app.inject('/');
    const policy = new Map(
      String(headers['content-security-policy'])
        .split('; ')
        .map((rule) => [rule.split(' ')[0], rule.split(' ').slice(1).join(' ')]),
    );
    expect(policy.get('connect-src')).toBe("'self'");
    expect(policy.get('base-uri')).toBe("'none'");
    expect(policy.get('form-action')).toBe("'self'");
    expect(policy.get('object-src')).toBe("'none'");
    expect(policy.get('frame-ancestors')).toBe("'none'");
    expect(policy.get('default-src')).toBe("'self'");
  });
});
