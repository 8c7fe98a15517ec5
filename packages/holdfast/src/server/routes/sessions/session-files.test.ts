import { done } from '@holdfast/protocol'
import { beforeAll, expect, it } from 'vitest'
import { openRuntimeServer } from '../../testing/runtime-server.ts'
import { codeOf } from '../../testing/test-server.ts'

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
