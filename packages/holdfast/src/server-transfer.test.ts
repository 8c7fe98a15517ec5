import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { limits, Stats } from '@holdfast/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toResult } from './admin/jobs/admin.ts'
import type { Holdfast } from './holdfast.ts'
import { openHoldfast } from './open.ts'
import { openTestServer } from './server/testing/test-server.ts'
import { createTransfer } from './server-transfer.ts'
import { type FilledStore, fillStore, locationIn } from './store/open/testing/a-store.ts'

let base = ''
let filled: FilledStore
let holdfast: Holdfast
beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), 'hf-transfer-'))
  const location = locationIn(base, 'sqlite')
  filled = await fillStore(location, join(base, 'aside'))
  holdfast = await openHoldfast({ store: location.url, environment: { HOLDFAST_HOME: join(base, 'home') } })
})
afterAll(async () => {
  await holdfast.close()
  rmSync(base, { recursive: true, force: true })
})

const openTest = () =>
  openTestServer({
    sessions: holdfast.handles,
    transfer: createTransfer(holdfast),
    stats: (options) => toResult(() => holdfast.stats(options)),
  })

describe('a server', () => {
  it.each([
    ['md', 'text/markdown; charset=utf-8', 'hello there'],
    ['html', 'text/html; charset=utf-8', '<!doctype html>'],
    ['json', 'application/json', '"messages"'],
    ['jsonl', 'application/x-ndjson', '"holdfast-export"'],
  ])('exports a session as %s', async (format, mediaType, text) => {
    await using test = await openTest()
    const answer = await test.call(`/v1/sessions/${filled.talk}/export?format=${format}`)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, mediaType])
    expect(answer.headers.get('content-disposition')).toContain(`attachment; filename="${filled.talk}.${format}"`)
    expect((await answer.text()).toLowerCase()).toContain(text)
  })

  it.each([
    ['the lamp', 'filename="the lamp.md"', 'the%20lamp.md'],
    ['a/b\\c: "größe" \u202e\n..', 'filename="a b c gr__e.md"', 'a%20b%20c%20gr%C3%B6%C3%9Fe.md'],
    ['../..', 'filename="session.md"', 'session.md'],
  ])('names an export by a name that file systems take: %j', async (name, plain, encoded) => {
    await using test = await openTest()
    const answer = await test.call(`/v1/sessions/${filled.talk}/export?name=${encodeURIComponent(name)}`)
    expect(answer.headers.get('content-disposition')).toBe(`attachment; ${plain}; filename*=UTF-8''${encoded}`)
    await answer.body?.cancel()
  })

  it('rejects an export of an unknown session and in an unknown format', async () => {
    await using test = await openTest()
    const missing = await test.call('/v1/sessions/calm-harbor-1/export')
    expect(await missing.json()).toMatchObject({ error: { code: 'session_not_found' } })
    expect((await test.call(`/v1/sessions/${filled.talk}/export?format=pdf`)).status).toBe(400)
  })

  it('imports an export once, for an admin only', async () => {
    await using test = await openTest()
    const given = await (await test.call(`/v1/sessions/${filled.talk}/export?format=jsonl`)).text()
    const other = await openHoldfast({ store: 'memory:', environment: { HOLDFAST_HOME: join(base, 'other') } })
    await using there = await openTestServer({ sessions: other.handles, transfer: createTransfer(other) })
    const send = (token: string) =>
      there.call('/v1/import?name=talk.jsonl', {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
        body: given,
      })
    expect((await send(there.tokens.driver)).status).toBe(403)
    expect(await (await send(there.tokens.admin)).json()).toMatchObject({
      files: [{ status: 'imported', session: filled.talk, format: 'holdfast' }],
    })
    expect(await (await send(there.tokens.admin)).json()).toMatchObject({ files: [{ status: 'same' }] })
    expect(await other.exportMarkdown(filled.talk)).toBe(await holdfast.exportMarkdown(filled.talk))
    await other.close()
  })

  it.each([
    ['a zip file', [0x50, 0x4b, 0x03, 0x04, 0x14, 0, 0, 0, 8, 0]],
    ['a gzip file', [0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0, 3]],
    ['a tar file', [...Buffer.from('../../evil.txt'.padEnd(257, '\0')), ...Buffer.from('ustar\0')]],
    ['a database', [...Buffer.from('SQLite format 3\0')]],
  ])('unpacks no archive: %s is no session, and nothing of it is left', async (_, head) => {
    await using test = await openTest()
    const before = (await holdfast.handles.list()) as unknown
    const answer = await test.call('/v1/import?name=session.jsonl', {
      method: 'POST',
      headers: { authorization: `Bearer ${test.tokens.admin}`, 'content-type': 'application/octet-stream' },
      body: Uint8Array.from([...head, ...Array<number>(2000).fill(7)]),
    })
    const text = await answer.text()
    expect(text).not.toContain('"imported"')
    expect(text).toMatch(/"code":"[a-z_]+"|"status":"(failed|skipped|refused)"/)
    expect(await holdfast.handles.list()).toEqual(before)
  })

  const oddNames = ['../../list.txt', '..', '.', '', '\0', 'a\0b', '聊'.repeat(200), 'a/', '\\']
  it.each(oddNames)('rejects the file %j without a session, and does not reveal a path', async (name) => {
    await using test = await openTest()
    const answer = await test.call(`/v1/import?name=${encodeURIComponent(name)}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${test.tokens.admin}` },
      body: 'a shopping list',
    })
    const text = await answer.text()
    expect(answer.status).toBe(400)
    expect(text).not.toContain(tmpdir())
  })

  it.each([1, 2])('accepts a bounded number of imports at once, also for %i times as many', async (times) => {
    let [running, most] = [0, 0]
    const release = Promise.withResolvers<void>()
    const transfer = createTransfer({
      export: holdfast.export,
      import: async () => {
        most = Math.max(most, ++running)
        await release.promise
        running--
        return []
      },
    })
    await using test = await openTestServer({ sessions: holdfast.handles, transfer })
    const send = () =>
      test.call('/v1/import', {
        method: 'POST',
        headers: { authorization: `Bearer ${test.tokens.admin}` },
        body: 'x',
      })
    const refused: unknown[] = []
    const all = Array.from({ length: times * (limits.importsWaitingMax + 4) }, async () => {
      const answer = await send()
      if (answer.status === 503) refused.push(await answer.json())
      // All that are too many are refused at once, before any other ends.
      if (refused.length === all.length - limits.importsWaitingMax) release.resolve()
      return answer.status
    })
    expect((await Promise.all(all)).filter((status) => status === 200)).toHaveLength(limits.importsWaitingMax)
    expect(most).toBeLessThanOrEqual(limits.importsWaitingMax)
    expect(refused[0]).toMatchObject({ error: { code: 'server_busy' } })
    expect((await send()).status).toBe(200)
  })

  it('returns statistics', async () => {
    await using test = await openTest()
    const ask = (days: number, token = test.tokens.admin) =>
      test.call(`/v1/stats?days=${days}`, { headers: { authorization: `Bearer ${token}` } })
    const stats = Stats.parse(await (await ask(2)).json())
    expect(stats.sessions).toEqual({ listed: 3, pinned: 0, trashed: 1, unspoken: 0 })
    expect(stats.total.calls).toBeGreaterThanOrEqual(5)
    expect((await ask(0)).status).toBe(400)
    expect((await ask(2, test.tokens.driver)).status).toBe(403)
  })
})
