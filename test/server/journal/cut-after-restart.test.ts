import { describe, expect, it } from 'vitest';
import { serve } from '../../rigs/serve-rig.ts';
import { testFolder } from '../../fakes/test-folder.ts';

describe('a client of a restarted server whose line is cut again at once', () => {
  /** A stored session that another server process left behind, with one item. */
  async function leftBehind() {
    const flags = { store: true, dataDir: testFolder() };
    const first = await serve({ flags });
    const before = first.call('?model=alice&x=resume');
    const { session } = await before.until('session.created');
    const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'I am Bob.' }] };
    before.send({ type: 'conversation.item.create', x_seq: 1, item: { id: 'q1', ...item } });
    const { x_seq: last } = await before.until('conversation.item.done');
    await first.app.close();
    const next = await serve({ flags });
    const query = `?resume=${session.x_dramatis.resume.token}&after=${last}&x=resume`;
    return { item, comeBack: () => next.call(query) };
  }

  it('resumes its session if it never got the answer of the restarted server', async () => {
    const { item, comeBack } = await leftBehind();
    const cut = comeBack();
    await cut.until('x_dramatis.resumed');
    cut.socket.terminate();
    const after = comeBack();
    expect(await after.until('x_dramatis.resumed')).toMatchObject({ restarted: true, received: 0 });
    // Sent again, since that server does not know it; taken only once.
    after.send({ type: 'conversation.item.create', x_seq: 1, item: { id: 'q1', ...item } });
    after.send({ type: 'conversation.item.retrieve', x_seq: 2, item_id: 'q1' });
    expect((await after.until('conversation.item.retrieved'))['item']).toMatchObject(item);
  });

  it('resumes its session after what it has sent the restarted server, without a frame from there', async () => {
    const { item, comeBack } = await leftBehind();
    const cut = comeBack();
    await cut.until('x_dramatis.resumed');
    cut.send({ type: 'conversation.item.delete', x_seq: 2, item_id: 'nothing', event_id: 'e' });
    cut.send({ type: 'x_dramatis.ack', x_ack: 0 });
    await cut.until('x_dramatis.ack');
    cut.socket.terminate();
    const after = comeBack();
    expect(await after.until('x_dramatis.resumed')).toMatchObject({ restarted: true, received: 2 });
    expect((await after.until('error'))['error']).toMatchObject({ event_id: 'e' });
    after.send({ type: 'conversation.item.retrieve', x_seq: 3, item_id: 'q1' });
    expect((await after.until('conversation.item.retrieved'))['item']).toMatchObject(item);
  });
});
