import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createWorkerLink } from './worker-link.ts'

let home = ''
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'holdfast-link-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

/** Writes a worker that dies on the request 'die' and echoes every other request. */
function fragileScript(): string {
  const script = join(home, 'mortal.mjs')
  writeFileSync(
    script,
    `import { parentPort } from 'node:worker_threads'
    parentPort.on('message', (batch) => {
      if (batch === null) return parentPort.close()
      if (batch.some(([, request]) => request === 'die')) throw new Error('out of memory')
      parentPort.postMessage(batch.map(([number, value]) => [number, { ok: true, value }]))
    })`,
  )
  return script
}

const createFragileLink = () =>
  createWorkerLink<string>({
    script: pathToFileURL(fragileScript()),
    options: {},
    faultOfDeath: (why) => ({ code: 'storage_error', message: why }),
  })

describe('worker link', () => {
  it('returns each answer to its request', async () => {
    const link = createFragileLink()
    expect(await Promise.all(['a', 'b', 'c'].map(link.ask))).toEqual(
      ['a', 'b', 'c'].map((value) => ({ ok: true, value })),
    )
    await link.close()
  })

  it('refuses pending requests if the worker dies, and starts another for the next request', async () => {
    const link = createFragileLink()
    await link.ask('a')
    const dead = { ok: false, fault: { code: 'storage_error', message: 'out of memory' } }
    expect(await Promise.all(['b', 'die', 'c'].map(link.ask))).toEqual([dead, dead, dead])
    expect(await link.ask('d')).toEqual({ ok: true, value: 'd' })
    await link.close()
  })

  it('keeps its process alive until it has closed', async () => {
    const script = join(home, 'closing.mjs')
    writeFileSync(
      script,
      `import { createWorkerLink } from ${JSON.stringify(new URL('./worker-link.ts', import.meta.url).href)}
      const link = createWorkerLink({ script: new URL(${JSON.stringify(pathToFileURL(fragileScript()).href)}), options: {}, faultOfDeath: String })
      void link.ask('a')
      await link.close()
      console.log('closed')`,
    )
    const { stdout } = await promisify(execFile)(process.execPath, [script])
    expect(stdout).toBe('closed\n')
  })

  it('answers pending requests before it closes, and refuses later ones', async () => {
    const link = createFragileLink()
    const last = link.ask('a')
    await link.close()
    expect(await last).toEqual({ ok: true, value: 'a' })
    expect(await link.ask('b')).toMatchObject({ ok: false, fault: { code: 'storage_error' } })
    await link.close()
  })
})
