import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Store } from '@holdfast/core/ports'
import { appendTo, codeOf, mustAppend, newSession, readAll, seqsOf, sessionId } from '@holdfast/testkit/contracts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { AppendTask } from './append-process.fixture.ts'
import { openSqliteStore } from './sqlite-store.ts'

let home = ''
let path = ''
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'holdfast-process-'))
  path = join(home, 'holdfast.db')
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const fixture = fileURLToPath(new URL('./append-process.fixture.ts', import.meta.url))

function start(number: number, count: number): ChildProcess {
  const task: AppendTask = { path, count, create: newSession(number), append: appendTo(number, 1) }
  return spawn(process.execPath, [fixture, JSON.stringify(task)], { stdio: ['ignore', 'pipe', 'inherit'] })
}

/** Reads lines of a process until there are `enough` of them or it ends. Also reads what it writes afterwards. */
async function linesOf(child: ChildProcess, enough: number, whenEnough: () => void): Promise<readonly string[]> {
  if (child.stdout === null) throw new Error('stdout is a pipe')
  const lines: string[] = []
  const ended = once(child, 'exit')
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line)
    if (lines.length === enough) whenEnough()
  }
  await ended
  return lines
}

async function open(): Promise<Store> {
  const opened = await openSqliteStore({ path })
  if (!opened.ok) throw new Error(opened.fault.message)
  return opened.value
}

describe('processes on one file', () => {
  it('lose no acknowledged append after kill -9, and store no partial one', async () => {
    for (const [number, enough] of [1, 40, 173].entries()) {
      const child = start(number, 1_000_000)
      const lines = await linesOf(child, enough, () => child.kill('SIGKILL'))
      expect(lines.every((line) => line.startsWith('ack '))).toBe(true)
      const acknowledged = lines.length

      const store = await open()
      const records = await readAll(store, number)
      const head = (await store.entry(sessionId(number)))?.head ?? 0
      expect(head).toBeGreaterThanOrEqual(acknowledged)
      expect(head - acknowledged).toBeLessThanOrEqual(1) // at most the pending one
      expect(seqsOf(records)).toEqual(Array.from({ length: head }, (_, index) => index + 1))
      expect(records.filter((record) => 'lost' in record)).toEqual([])
      await mustAppend(store, appendTo(number, head))
      await store.close()
    }
  })

  it('read everything after an interrupted checkpoint', async () => {
    const child = start(1, 1_000_000)
    const acknowledged = (await linesOf(child, 50, () => child.kill('SIGKILL'))).length
    // A checkpoint copies page 1 first, which then refers to pages that are only in the log.
    const file = openSync(path, 'r+')
    const pages = Buffer.alloc(4)
    pages.writeUInt32BE(1_000_000)
    writeSync(file, pages, 0, 4, 28)
    closeSync(file)

    const store = await open()
    expect((await readAll(store, 1)).length).toBeGreaterThanOrEqual(acknowledged)
    await store.close()
  })

  it('write at the same time without a refusal', async () => {
    const children = [1, 2, 3].map((number) => linesOf(start(number, 150), 0, () => undefined))
    const store = await open()
    expect(codeOf(await store.create(newSession(4)))).toBe('ok')
    for (let after = 1; after <= 150; after++) await mustAppend(store, appendTo(4, after))
    const acknowledged = Array.from({ length: 151 }, (_, index) => `ack ${index + 1}`)
    expect(await Promise.all(children)).toEqual([acknowledged, acknowledged, acknowledged])
    for (const number of [1, 2, 3, 4]) expect((await readAll(store, number)).length).toBe(151)
    await store.close()
  })

  it('exit while a store is open without pending requests', async () => {
    const script = `
      const { openSqliteStore } = await import(${JSON.stringify(new URL('./sqlite-store.ts', import.meta.url).href)})
      const opened = await openSqliteStore({ path: ${JSON.stringify(path)} })
      await opened.value.list({ limit: 1 })
      console.log(opened.ok)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    expect(await linesOf(child, 0, () => undefined)).toEqual(['true'])
    expect(child.exitCode).toBe(0)
    expect(existsSync(path)).toBe(true)
  })
})
