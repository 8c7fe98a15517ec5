import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openHoldfast } from './open.ts'

let workdir = ''
beforeEach(() => {
  workdir = mkdtempSync(join(tmpdir(), 'holdfast-boundaries-'))
  writeFileSync(join(workdir, 'a.ts'), 'one\ntwo\nthree\n')
  symlinkSync('a.ts', join(workdir, 'link.ts'))
})
afterEach(() => rmSync(workdir, { recursive: true, force: true }))

const openSession = async () => {
  const environment = { HOLDFAST_HOME: join(workdir, '.home') }
  const holdfast = await openHoldfast({ store: 'memory:', environment })
  return { holdfast, session: await holdfast.startSession({ workdir, model: 'demo/agent' }) }
}

describe('the edit boundaries of a session', () => {
  it('are set, read and cleared by any spelling of the path', async () => {
    const { holdfast, session } = await openSession()
    const boundary = { path: 'a.ts', start: 1, end: 2 }
    expect(await session.setBoundary('./link.ts', 1, 2)).toMatchObject(boundary)
    expect(await session.boundaries()).toEqual([boundary])
    expect(await session.boundaryFor('a.ts')).toEqual({ start: 1, end: 2 })
    expect(await session.boundaryFor(join(workdir, 'sub/../a.ts'))).toEqual({ start: 1, end: 2 })
    expect(await session.boundaryFor('b.ts')).toBeNull()
    await session.clearBoundary(join(workdir, 'link.ts'))
    expect(await session.boundaryFor('a.ts')).toBeNull()
    await session.setBoundary('a.ts', 0, 0)
    await session.clearAllBoundaries()
    expect(await session.boundaries()).toEqual([])
    await holdfast.close()
  })

  it('are refused for wrong lines and for files that do not exist or are outside', async () => {
    const { holdfast, session } = await openSession()
    for (const [path, start, end] of [
      ['a.ts', 2, 1],
      ['a.ts', -1, 1],
      ['nowhere.ts', 0, 1],
      ['.', 0, 1],
      ['../a.ts', 0, 1],
    ] as const)
      await expect(session.setBoundary(path, start, end)).rejects.toMatchObject({ code: 'bad_boundary' })
    expect(await session.boundaries()).toEqual([])
    await holdfast.close()
  })
})
