import { CallId, done, Instant, limits, ok, orThrow, Seq } from '@holdfast/protocol'
import { beforeAll, expect, it } from 'vitest'
import { openRuntimeServer } from '../../testing/runtime-server.ts'
import { codeOf } from '../../testing/test-server.ts'
import { readTouched } from './session-files.ts'

let test: Awaited<ReturnType<typeof openRuntimeServer>>
beforeAll(async () => {
  test = await openRuntimeServer({ fileAccess: { check: async () => done } })
  return () => test[Symbol.asyncDispose]()
})

it('returns lines of a file of the workdir', async () => {
  const answer = await test.call(`${test.path}/file?path=src/a.ts&limit=10`)
  const lines = ['The content of src/a.ts.']
  expect(await answer.json()).toEqual({ path: 'src/a.ts', start: 0, lines, total: 1, next: null })
})

it.each([
  ['', 400, 'bad_request'],
  ['?path=', 400, 'bad_request'],
  ['?path=a&start=-1', 400, 'bad_request'],
  ['?path=a&start=one', 400, 'bad_request'],
  ['?path=a&limit=0', 400, 'bad_request'],
  ['?path=a&limit=2001', 400, 'bad_request'],
  ['?path=a&more=1', 400, 'bad_request'],
  [`?path=${'x'.repeat(5000)}`, 400, 'bad_request'],
  ['?path=missing', 404, 'not_found'],
])('refuses %j', async (query, status, code) => {
  const answer = await test.call(`${test.path}/file${query}`)
  expect([answer.status, await codeOf(answer)]).toEqual([status, code])
})

it.each([
  ['?turn=5', 404, 'turn_not_found'],
  ['?call=5', 404, 'message_not_found'],
  ['?turn=-1', 400, 'bad_request'],
])('refuses a diff and a preview of %j with a code that the route declares', async (query, status, code) => {
  for (const route of ['diff', 'restore-preview']) {
    const answer = await test.call(`${test.path}/${route}${query}`)
    expect([route, answer.status, await codeOf(answer)]).toEqual([route, status, code])
  }
  expect(test.problems).toEqual([])
})

it.each([
  ['changes', 1000, 'f', limits.touchedChangesMax / 1000],
  ['long paths', 10, 'f'.repeat(4000), Math.floor(limits.touchedPathsCharsMax / 40_000)],
])('lists the newest files of a session with very many %s, and says so', async (_, perPage, name, pagesMax) => {
  const readAt = async (pages: number) => {
    let read = 0
    const found = await readTouched({
      async fileChanges({ before = Seq.parse(pages + 1) } = {}) {
        read++
        const seq = Seq.parse(before - 1)
        const about = { seq, at: Instant.parse('2026-01-02T03:04:05.000Z'), call: CallId.parse(seq) }
        const paths = Array.from({ length: perPage }, (_, index) => `${index}-${seq}-${name}`.slice(0, 4000))
        const changes = paths.map((path) => ({ ...about, path, change: 'created' as const }))
        return ok({ changes, before: seq === 1 ? null : seq })
      },
    })
    return { read, ...orThrow(found) }
  }
  const few = await readAt(pagesMax)
  expect([few.read, few.files.length, 'isCut' in few]).toEqual([pagesMax, pagesMax * perPage, false])
  for (const pages of [2 * pagesMax, 4 * pagesMax]) {
    const { read, files, ...rest } = await readAt(pages)
    expect([read, files.length, rest]).toEqual([pagesMax + 1, pagesMax * perPage, { isCut: true }])
    expect(files[0]?.callId).toBe(pages)
  }
})
