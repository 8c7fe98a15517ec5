import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Store } from '@holdfast/core/ports'
import type { Result } from '@holdfast/protocol'
import { createDice } from '@holdfast/testkit'
import { appendTo, codeOf, mustAppend, newSession, readAll, seqsOf, sessionId } from '@holdfast/testkit/contracts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { JsonlTask } from './append-process.fixture.ts'
import { openJsonlStore } from './jsonl-store.ts'

let home = ''
let directory = ''
const children: ChildProcess[] = []
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'holdfast-jsonl-'))
  directory = join(home, 'logs')
})
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  rmSync(home, { recursive: true, force: true })
})

const fixture = fileURLToPath(new URL('./append-process.fixture.ts', import.meta.url))
const batch = 3
/** Set KILLS=1000 for a long run. */
const rounds = Number(process.env['KILLS'] ?? 5)

function start(numbers: readonly number[], count: number): ChildProcess {
  const sessions = numbers.map((number) => ({ create: newSession(number), append: appendTo(number, 1) }))
  const task: JsonlTask = { directory, sessions, count, batch }
  const child = spawn(process.execPath, [fixture, JSON.stringify(task)], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  return child
}

/** Reads lines of a process until there are `enough` or it ends; also reads what follows. */
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

/** Resolves with the first line of a process, which keeps running. */
async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('stdout is a pipe')
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  return String(line)
}

const attempt = (): Promise<Result<Store>> =>
  openJsonlStore({ directory, now: () => 0, entryOf: async () => null, onProblem: () => undefined })

async function open(): Promise<Store> {
  const opened = await attempt()
  if (!opened.ok) throw new Error(opened.fault.message)
  return opened.value
}

describe('process with a JSONL store', () => {
  it(
    'loses no acknowledged append after kill -9 and keeps no partial batch',
    async () => {
      const dice = createDice(Number(process.env['SEED'] ?? 1))
      const numbers = [1, 2, 3]
      let before = 0
      for (let round = 0; round < rounds; round++) {
        const child = start(numbers, 1_000_000)
        const lines = await linesOf(child, 2 + dice.below(80), () => child.kill('SIGKILL'))
        expect(lines.filter((line) => line.startsWith('refused'))).toEqual([])

        const store = await open()
        for (const number of numbers) {
          const mine = lines.filter((line) => line.includes(sessionId(number)))
          const acknowledged = Number(mine.at(-1)?.split(' ').at(-1) ?? 0)
          const row = await store.entry(sessionId(number))
          const head = row?.head ?? 0
          expect(head).toBeGreaterThanOrEqual(acknowledged)
          if (row === null) continue
          expect((head - 1) % batch).toBe(0)
          const records = await store.read(sessionId(number), { after: 0, limit: head + 1 })
          expect(seqsOf(records)).toEqual(Array.from({ length: head }, (_, index) => index + 1))
          expect(records.filter((record) => 'lost' in record)).toEqual([])
        }
        const heads = await Promise.all(
          numbers.map(async (number) => (await store.entry(sessionId(number)))?.head ?? 0),
        )
        expect(Math.max(...heads)).toBeGreaterThanOrEqual(before)
        before = Math.max(...heads)
        await store.close()
      }
      expect(before).toBeGreaterThan(1)
    },
    10_000 + rounds * 4000,
  )

  it('continues after a killed process', async () => {
    const child = start([1], 1_000_000)
    await linesOf(child, 20, () => child.kill('SIGKILL'))
    const store = await open()
    const head = (await store.entry(sessionId(1)))?.head ?? 0
    await mustAppend(store, appendTo(1, head))
    expect((await readAll(store, 1)).length).toBe(head + 1)
    await store.close()
  })

  it('holds the directory exclusively; the fault for others names it', async () => {
    const child = start([], 0)
    expect(await firstLine(child)).toBe('open')
    const second = await attempt()
    expect(second).toMatchObject({ ok: false, fault: { code: 'session_locked', details: { pid: child.pid } } })
    const third = start([], 0)
    expect(await firstLine(third)).toMatch(/^refused session_locked /)
  })

  it('keeps the lock while paused and releases it when it dies', async () => {
    const child = start([], 0)
    expect(await firstLine(child)).toBe('open')
    child.kill('SIGSTOP')
    expect(codeOf(await attempt())).toBe('session_locked')
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
    await (await open()).close()
  })

  it('cannot open the store twice, until the first one is closed', async () => {
    const first = await open()
    expect(codeOf(await attempt())).toBe('session_locked')
    await first.close()
    await (await open()).close()
  })

  it('exits while an idle store is open', async () => {
    const script = `
      const { openJsonlStore } = await import(${JSON.stringify(new URL('./jsonl-store.ts', import.meta.url).href)})
      const opened = await openJsonlStore({
        directory: ${JSON.stringify(directory)}, now: Date.now, entryOf: async () => null, onProblem: console.error,
      })
      await opened.value.list({ limit: 1 })
      console.log(opened.ok)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    expect(await linesOf(child, 0, () => undefined)).toEqual(['true'])
    expect(child.exitCode).toBe(0)
    expect(readdirSync(directory)).toContain('holdfast.json')
  })
})
