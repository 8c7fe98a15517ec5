import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Blobs } from '@holdfast/core/ports'
import { createFaultyStore } from '@holdfast/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openHoldfast } from '../open.ts'
import { createMemoryBlobs } from '../store/blobs/memory-blobs.ts'
import { createMemoryStore } from '../store/memory/memory-store.ts'

let workdir = ''
beforeEach(() => {
  workdir = mkdtempSync(join(tmpdir(), 'holdfast-restore-crash-'))
  writeFileSync(join(workdir, 'old.sh'), 'one\ntwo\n')
})
afterEach(() => rmSync(workdir, { recursive: true, force: true }))

const text = (path: string) => (existsSync(join(workdir, path)) ? readFileSync(join(workdir, path), 'utf8') : null)
const texts = () => [text('a.txt'), text('old.sh'), text('b.txt')]

const afterTurns = ['two', 'one\n2\n', 'new']
const atTurnZero = ['one', 'one\ntwo\n', null]

/** Opens a session with four turns on a store that outlives its runtime. */
async function openTurns() {
  const store = createFaultyStore(createMemoryStore())
  const kept = createMemoryBlobs()
  const crash = { when: () => false }
  const blobs: Blobs = {
    ...kept,
    async open(hash) {
      if (crash.when()) throw new Error('the process died')
      return kept.open(hash)
    },
  }
  const environment = { HOLDFAST_HOME: join(workdir, '.home'), DEMO_PACE: '0' }
  const open = () => openHoldfast({ store: { ...store, close: async () => undefined }, blobs, environment })
  const first = await open()
  const session = await first.startSession({ workdir, model: 'demo/agent', approvals: 'none' })
  for (const prompt of ['write a.txt: one', 'edit a.txt: one => two', 'edit old.sh: two => 2', 'write b.txt: new'])
    await session.prompt(prompt).text()
  expect(texts()).toEqual(afterTurns)
  const reopen = async () => {
    crash.when = () => false
    await first.close()
    const next = await open()
    return { holdfast: next, session: await next.getSession(session.id) }
  }
  return { store, crash, session, reopen }
}

/** Restores turn 0, and crashes after a.txt was put back and before old.sh. */
async function crashBetweenFiles() {
  const { store, crash, session, reopen } = await openTurns()
  crash.when = () => text('a.txt') === 'one'
  await expect(session.restoreFiles({ turn: 0 }, { commandId: 'crashed' })).rejects.toThrow()
  expect(texts()).toEqual(['one', 'one\n2\n', 'new'])
  return { store, crash, ...(await reopen()) }
}

describe('a restore of files that a crash interrupted', () => {
  it('is undone by the next runtime, and that is undone again', async () => {
    const { holdfast, session } = await crashBetweenFiles()
    expect(await session.restoreFiles({ undo: true })).toMatchObject({
      restored: [{ path: 'a.txt', action: 'restore' }],
      refused: [],
    })
    expect(texts()).toEqual(afterTurns)
    await session.restoreFiles({ undo: true })
    expect(texts()).toEqual(['one', 'one\n2\n', 'new'])
    await holdfast.close()
  })

  it.each([{ commandId: 'crashed' }, { commandId: 'another' }])(
    'is finished by the same restore, $commandId, whose undo covers both runs',
    async (options) => {
      const { holdfast, session } = await crashBetweenFiles()
      expect(await session.previewRestore({ turn: 0 })).toMatchObject({
        files: [
          { path: 'a.txt', action: 'none' },
          { path: 'old.sh', action: 'restore' },
          { path: 'b.txt', action: 'delete' },
        ],
      })
      const { restored, refused } = await session.restoreFiles({ turn: 0 }, options)
      expect([restored.map(({ path }) => path), refused]).toEqual([['a.txt', 'old.sh', 'b.txt'], []])
      expect(texts()).toEqual(atTurnZero)
      await session.restoreFiles({ undo: true })
      expect(texts()).toEqual(afterTurns)
      await session.restoreFiles({ undo: true })
      expect(texts()).toEqual(atTurnZero)
      await holdfast.close()
    },
  )

  it('is put back by a restore of a later turn, and does not hide changes that the session makes then', async () => {
    const { holdfast, session } = await crashBetweenFiles()
    await session.restoreFiles({ turn: 3 })
    expect(texts()).toEqual(afterTurns)
    await session.restoreFiles({ undo: true })
    expect(texts()).toEqual(['one', 'one\n2\n', 'new'])
    await session.prompt('edit a.txt: one => three').text()
    const { restored, refused } = await session.restoreFiles({ turn: 0 })
    expect([restored.map(({ path }) => path), refused]).toEqual([['a.txt', 'old.sh', 'b.txt'], []])
    expect(texts()).toEqual(atTurnZero)
    await holdfast.close()
  })

  it('leaves alone what others changed since', async () => {
    const { holdfast, session } = await crashBetweenFiles()
    writeFileSync(join(workdir, 'a.txt'), 'theirs')
    const refused = [{ path: 'a.txt', why: 'changed by others since' }]
    expect(await session.restoreFiles({ undo: true })).toMatchObject({ restored: [], refused })
    expect(await session.restoreFiles({ turn: 0 })).toMatchObject({ refused })
    expect(texts()).toEqual(['theirs', 'one\ntwo\n', null])
    await holdfast.close()
  })

  it('is taken over by a repeated command if only its end is not on record', async () => {
    const { store, session, reopen } = await openTurns()
    store.failAppend(2)
    await expect(session.restoreFiles({ turn: 0 }, { commandId: 'once' })).rejects.toMatchObject({
      code: 'storage_error',
    })
    expect(texts()).toEqual(atTurnZero)
    const next = await reopen()
    const { restored } = await next.session.restoreFiles({ turn: 0 }, { commandId: 'once' })
    expect(restored.map(({ action }) => action)).toEqual(['restore', 'restore', 'delete'])
    await next.session.restoreFiles({ undo: true })
    expect(texts()).toEqual(afterTurns)
    await next.holdfast.close()
  })

  it('is finished by another undo if it was an undo', async () => {
    const { crash, session, reopen } = await openTurns()
    await session.restoreFiles({ turn: 0 })
    crash.when = () => text('a.txt') === 'two'
    await expect(session.restoreFiles({ undo: true })).rejects.toThrow()
    expect(texts()).toEqual(['two', 'one\ntwo\n', null])
    const next = await reopen()
    await next.session.restoreFiles({ undo: true })
    expect(texts()).toEqual(afterTurns)
    await next.session.restoreFiles({ undo: true })
    expect(texts()).toEqual(atTurnZero)
    await next.holdfast.close()
  })

  it('changes nothing if its start cannot be recorded, and the restore before it can still be undone', async () => {
    const { store, session, reopen } = await openTurns()
    await session.restoreFiles({ turn: 0, paths: ['b.txt'] })
    store.failAppend(1)
    await expect(session.restoreFiles({ turn: 0 })).rejects.toMatchObject({ code: 'storage_error' })
    expect(texts()).toEqual(['two', 'one\n2\n', null])
    const next = await reopen()
    await next.session.restoreFiles({ undo: true })
    expect(texts()).toEqual(afterTurns)
    await next.holdfast.close()
  })
})
