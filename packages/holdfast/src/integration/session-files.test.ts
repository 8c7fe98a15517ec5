import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openHoldfast } from '../open.ts'

let workdir = ''
beforeEach(() => {
  workdir = mkdtempSync(join(tmpdir(), 'holdfast-files-'))
})
afterEach(() => rmSync(workdir, { recursive: true, force: true }))

it('lists the files that a session changed, each once, newest first', async () => {
  const holdfast = await openHoldfast({ store: 'memory:', environment: { HOLDFAST_HOME: join(workdir, '.home') } })
  const session = await holdfast.startSession({ workdir, model: 'demo/agent', approvals: 'none' })
  for (const prompt of ['write a.txt: one', 'write b.txt: two', 'edit a.txt: one => three'])
    await session.prompt(prompt).text()
  const touched = await session.touchedFiles()
  expect(touched.map(({ path, action }) => [path, action])).toEqual([
    ['a.txt', 'modified'],
    ['b.txt', 'created'],
  ])
  const changes = await Array.fromAsync(session.fileChanges())
  expect(changes.map(({ path, call }) => [path, call])).toEqual([
    ['a.txt', touched[0]?.callId],
    ['b.txt', touched[1]?.callId],
    ['a.txt', expect.any(Number)],
  ])
  await holdfast.close()
})
