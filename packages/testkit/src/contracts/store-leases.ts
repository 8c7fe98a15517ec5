import type { Draft } from '@holdfast/core/ports'
import { StepId } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import {
  appendTo,
  codeOf,
  mustAppend,
  mustCreate,
  newSession,
  type OpenStore,
  readAll,
  sessionId,
  useStore,
} from './store-fixture.ts'

/** Describes leases, and drafts and snapshots, which only the owner may write. */
export function describeLeases(open: OpenStore): void {
  const store = useStore(open)
  const one = sessionId(1)
  const draft = (text: string): Draft => ({ step: StepId.parse(4), parts: [{ type: 'text', text }] })

  describe('lease', () => {
    it('belongs to the creator of the session, at epoch 1', async () => {
      await mustCreate(store(), newSession(1))
      expect(await store().claim(one, 'node-b', null)).toMatchObject({
        ok: false,
        fault: { code: 'session_locked', details: { node: 'node-a' } },
      })
      await mustAppend(store(), appendTo(1, 1))
    })

    it('is taken over only from the named owner', async () => {
      await mustCreate(store(), newSession(1))
      expect(codeOf(await store().claim(one, 'node-b', 'node-c'))).toBe('session_locked')
      expect(await store().claim(one, 'node-b', 'node-a')).toEqual({ ok: true, value: { epoch: 2, head: 1, base: 0 } })
      expect((await store().entry(one))?.owner).toBe('node-b')
    })

    it('fences the former owner', async () => {
      await mustCreate(store(), newSession(1))
      await store().claim(one, 'node-b', 'node-a')
      expect(codeOf(await store().append(appendTo(1, 1)))).toBe('fenced')
      await mustAppend(store(), appendTo(1, 1, { epoch: 2 }))
      expect((await readAll(store(), 1)).length).toBe(2)
    })

    it('can be renewed by its owner, who then appends at the new epoch', async () => {
      await mustCreate(store(), newSession(1))
      const again = await store().claim(one, 'node-a', null)
      if (!again.ok) throw new Error(again.fault.message)
      await mustAppend(store(), appendTo(1, 1, { epoch: again.value.epoch }))
    })

    it('is free once released, and closed to the former owner', async () => {
      await mustCreate(store(), newSession(1))
      await store().release(one, 'node-a', 1)
      expect((await store().entry(one))?.owner).toBeNull()
      expect(codeOf(await store().append(appendTo(1, 1)))).toBe('fenced')
      expect(codeOf(await store().claim(one, 'node-b', null))).toBe('ok')
    })

    it('is not released by another node or at another epoch', async () => {
      await mustCreate(store(), newSession(1))
      await store().release(one, 'node-b', 1)
      await store().release(one, 'node-a', 7)
      expect((await store().entry(one))?.owner).toBe('node-a')
      await mustAppend(store(), appendTo(1, 1))
    })

    it('goes to one of two concurrent claims', async () => {
      await mustCreate(store(), newSession(1))
      await store().release(one, 'node-a', 1)
      const claims = await Promise.all(['node-b', 'node-c'].map((node) => store().claim(one, node, null)))
      expect(claims.map(codeOf).toSorted()).toEqual(['ok', 'session_locked'])
    })

    it('is refused for a missing session', async () => {
      expect(codeOf(await store().claim(sessionId(9), 'node-a', null))).toBe('session_not_found')
    })
  })

  describe('nodes', () => {
    it('stay until removed, with their latest address', async () => {
      const row = (id: string, address: string) => ({ id, address, startedAt: '2026-01-01T00:00:00.000Z' })
      await store().registerNode(row('a', 'unix:/a'))
      await store().registerNode(row('b', 'unix:/b'))
      await store().registerNode(row('a', 'unix:/a2'))
      expect(await store().nodes()).toMatchObject([row('a', 'unix:/a2'), row('b', 'unix:/b')])
      await store().removeNode('a')
      expect(await store().nodes()).toMatchObject([row('b', 'unix:/b')])
    })
  })

  describe('draft', () => {
    it('is overwritten, one per session', async () => {
      await mustCreate(store(), newSession(1), newSession(2))
      expect(await store().loadDraft(one)).toBeNull()
      await store().saveDraft(one, 1, draft('Once'))
      await store().saveDraft(one, 1, draft('Once upon'))
      expect(await store().loadDraft(one)).toStrictEqual(draft('Once upon'))
      expect(await store().loadDraft(sessionId(2))).toBeNull()
    })

    it('is removed only by the append that records the answer', async () => {
      await mustCreate(store(), newSession(1))
      await store().saveDraft(one, 1, draft('Once'))
      await mustAppend(store(), appendTo(1, 1))
      expect(codeOf(await store().append(appendTo(1, 1, { clearDraft: true })))).toBe('log_moved')
      expect(await store().loadDraft(one)).toStrictEqual(draft('Once'))
      await mustAppend(store(), appendTo(1, 2, { clearDraft: true }))
      expect(await store().loadDraft(one)).toBeNull()
    })

    it('is refused from a former owner, and kept for the next one', async () => {
      await mustCreate(store(), newSession(1))
      await store().saveDraft(one, 1, draft('Once'))
      await store().claim(one, 'node-b', 'node-a')
      expect(codeOf(await store().saveDraft(one, 1, draft('Late')))).toBe('fenced')
      expect(await store().loadDraft(one)).toStrictEqual(draft('Once'))
      expect(codeOf(await store().saveDraft(one, 2, draft('Mine')))).toBe('ok')
      expect(await store().loadDraft(one)).toStrictEqual(draft('Mine'))
    })

    it('is refused for a session that does not exist', async () => {
      expect(codeOf(await store().saveDraft(sessionId(9), 1, draft('?')))).toBe('session_not_found')
    })
  })

  describe('snapshot', () => {
    it('is returned only to the fold version that made it', async () => {
      await mustCreate(store(), newSession(1))
      expect(await store().loadSnapshot(one, 3)).toBeNull()
      await store().saveSnapshot(one, { seq: 1, fold: 3, body: '{"a":1}' })
      expect(await store().loadSnapshot(one, 3)).toEqual({ seq: 1, fold: 3, body: '{"a":1}' })
      expect(await store().loadSnapshot(one, 4)).toBeNull()
    })

    it('is replaced by a later one', async () => {
      await mustCreate(store(), newSession(1))
      await store().saveSnapshot(one, { seq: 1, fold: 3, body: 'old' })
      await store().saveSnapshot(one, { seq: 2, fold: 4, body: 'new' })
      expect(await store().loadSnapshot(one, 3)).toBeNull()
      expect(await store().loadSnapshot(one, 4)).toEqual({ seq: 2, fold: 4, body: 'new' })
    })
  })
}
