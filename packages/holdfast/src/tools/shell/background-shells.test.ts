import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Clock, ToolArgs, ToolRun } from '@holdfast/core/ports'
import { invariant, limits, SessionId } from '@holdfast/protocol'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createToolRun, openWorkdir } from '../../../../testkit/src/contracts/tool.ts'
import { createMemory } from '../../context/memory/memory.ts'
import { registerKey } from '../../system/secrets/known-keys.ts'
import { wallClock } from '../../system/wall-clock.ts'
import { livingMembers, signalGroup } from '../program/process-group.ts'
import { createProcessRecords } from '../program/process-records.ts'
import { createTools } from '../tools.ts'

const session = SessionId.parse(`ses_0${'1'.repeat(25)}`)
const memory = createMemory({ userFile: '/nonexistent/MEMORY.md', now: () => 0 })

async function open(after?: Clock['after']) {
  const { workdir, beside } = await openWorkdir()
  const shellDirectory = join(beside, 'shells')
  const environment = { PATH: process.env['PATH'] }
  const tools = createTools({ environment, memory, shellDirectory, after })
  const { background } = tools
  invariant(background, 'the tools run commands in the background')
  onTestFinished(() => background.end())
  async function call(name: string, args: ToolArgs, run: Partial<ToolRun> = {}) {
    const made = createToolRun(run)
    const result = await tools.find(name)?.run(args, { workdir, session }, made.run)
    invariant(result, `there is a tool ${name}`)
    return { ...result, text: result.output.text, mark: made.marks[0] }
  }
  async function start(command: string) {
    const { text, mark } = await call('shell', { command, background: true })
    const id = /as (\w+)\./.exec(text)?.[1]
    invariant(id !== undefined && mark, `no id in ${text}`)
    return { id, group: mark.group }
  }
  const records = async () =>
    (await readdir(shellDirectory).catch(() => [])).filter((name) => name.endsWith('.process'))
  const untold = () => readdir(join(shellDirectory, 'commands')).catch(() => [])
  return { background, call, start, records, untold, workdir, shellDirectory }
}

type Opened = Awaited<ReturnType<typeof open>>

const untilDead = (group: number) => expect.poll(() => livingMembers(group), { timeout: 15_000 }).toEqual([])

describe('a command in the background', () => {
  it('returns an id at once, and its new output at each read', async () => {
    const { call, start, workdir } = await open()
    const { id } = await start('echo one; until [ -e go ]; do sleep 0.01; done; echo two; exit 3')
    expect((await call('shell_output', { id, wait: 60 })).text).toBe(`one\n[${id} is running]`)
    await call('shell', { command: `touch ${workdir}/go` })
    let text = ''
    while (!text.includes('has ended')) text += (await call('shell_output', { id, wait: 60 })).text
    expect(text.replaceAll(`[${id} is running]`, '')).toBe(`two\n[${id} has ended: exit code 3]`)
    expect((await call('shell_output', { id })).text).toBe(`[${id} has ended: exit code 3]`)
  })

  it('shows only the lines that a filter asks for', async () => {
    const { call, start, background } = await open()
    const { id } = await start('seq 1 200')
    await expect.poll(() => background.running(session), { timeout: 15_000 }).toEqual([])
    expect((await call('shell_stop', { id })).text).toBe(`${id} had ended already: exit code 0`)
    expect((await call('shell_output', { id, filter: '99' })).text).toBe(`99\n199\n[${id} has ended: exit code 0]`)
  })

  it('is ended by shell_stop with its whole group', async () => {
    const { call, start, background, records } = await open()
    const { id, group } = await start('sleep 1000 & exec sleep 1000')
    expect(background.running(session)).toMatchObject([{ id, command: 'sleep 1000 & exec sleep 1000' }])
    expect(await records()).toHaveLength(1)
    expect((await call('shell_stop', { id })).text).toBe(`${id} was ended.`)
    expect(await livingMembers(group)).toEqual([])
    expect(background.running(session)).toEqual([])
    await expect.poll(records, { timeout: 15_000 }).toEqual([])
    expect((await call('shell_output', { id })).text).toContain(`[${id} has ended: stopped]`)
  })

  it('is listed with the end of its output: whole lines, without known keys', async () => {
    const key = `sk-tail-${'k'.repeat(40)}`
    registerKey(key)
    const { start, background } = await open()
    const many = limits.backgroundTailCharsMax
    await start(`seq 1 ${many}; printf '%s' 'a ${key} b\nlast ${key.slice(0, 20)}'; exec sleep 1000`)
    const tail = async () => (await background.list(session))[0]?.tail ?? ''
    await expect.poll(tail, { timeout: 15_000 }).toMatch(/last $/)
    expect(await tail()).toMatch(new RegExp(`^\\d+\\n[^]*\\n${many}\\na \\[key removed\\] b\\nlast $`))
    expect((await tail()).length).toBeLessThanOrEqual(many)
    expect((await background.list(session))[0]?.isCut).toBe(true)
  })

  it('runs on when a call is aborted, and ends with its session', async () => {
    const { call, start, background } = await open()
    const changed: string[] = []
    background.onChange((id) => void changed.push(id))
    const { id, group } = await start('sleep 1000')
    const controller = new AbortController()
    const reading = call('shell_output', { id, wait: 60 }, { signal: controller.signal })
    controller.abort()
    expect((await reading).text).toBe('aborted')
    expect(await livingMembers(group)).not.toEqual([])
    await background.end(session)
    expect(await livingMembers(group)).toEqual([])
    expect(changed).toEqual([session, session])
    expect(await call('shell_output', { id })).toMatchObject({ type: 'failed' })
  })

  it.runIf(process.platform === 'linux').each([
    ['its session ends', ({ background }: Opened) => background.end(session)],
    ['shell_stop ends it', ({ call }: Opened, id: string) => call('shell_stop', { id })],
  ])('is ended with its processes that left the group when %s', async (_, end) => {
    const opened = await open()
    // The second one has children of its own.
    const leave = (file: string) => `setsid sh -c 'sleep 1000 & echo $$ > ${file}; wait' &`
    const { id } = await opened.start(`${leave('one')} ${leave('two')} wait`)
    const read = (name: string) => readFile(join(opened.workdir, name), 'utf8').then(Number, () => 0)
    const pids = () => Promise.all(['one', 'two'].map(read))
    await expect.poll(async () => (await pids()).every((pid) => pid > 0), { timeout: 15_000 }).toBe(true)
    const groups = await pids() // each leads a group of its own
    for (const group of groups) onTestFinished(() => signalGroup(group, 'SIGKILL'))
    await end(opened, id)
    for (const group of groups) expect(await livingMembers(group)).toEqual([])
  })

  it('is what a command becomes at its timeout', async () => {
    const fired = Promise.withResolvers<void>()
    const after: Clock['after'] = (delay, act) => {
      if (delay !== limits.shellTimeoutMs) return wallClock.after(delay, act)
      void fired.promise.then(act)
      return () => undefined
    }
    const { call, background } = await open(after)
    const show = (text: string) => text.includes('ready') && fired.resolve()
    const { type, text, mark } = await call('shell', { command: 'echo ready; sleep 1000' }, { show })
    const [running] = background.running(session)
    expect({ type, text }).toEqual({
      type: 'ok',
      text: expect.stringMatching(/^Still running after 120 s: .* as \w+\./),
    })
    expect(text).toContain(running?.id)
    expect(await livingMembers(mark?.group ?? 0)).not.toEqual([])
    expect((await call('shell_output', { id: running?.id })).text).toBe(`ready\n[${running?.id} is running]`)
  })

  it('is refused beyond the limit, and an unknown id is explained', async () => {
    const { call, start, background } = await open()
    const { id } = await start('sleep 1000')
    // All at once: a place is taken before the command starts, not after.
    const begin = () => call('shell', { command: 'sleep 1000', background: true })
    const started = await Promise.all(Array.from({ length: limits.backgroundShellsMax + 3 }, begin))
    const refused = started.filter(({ type }) => type === 'failed')
    expect(background.running(session)).toHaveLength(limits.backgroundShellsMax)
    expect(refused.map(({ text }) => text)).toEqual(
      Array.from({ length: 4 }, () => expect.stringContaining('End one with shell_stop')),
    )
    expect((await call('shell_stop', { id })).type).toBe('ok')
    expect((await begin()).type).toBe('ok')
    expect((await call('shell_stop', { id: 'none' })).text).toContain(`There are ${id}, `)
  })

  it('leaves its place if it cannot start', async () => {
    const { call } = await open()
    const begin = () => Promise.reject(new Error('no longer wanted'))
    for (let count = 0; count <= limits.backgroundShellsMax; count++)
      await expect(call('shell', { command: 'true', background: true }, { begin })).rejects.toThrow('no longer wanted')
    expect((await call('shell', { command: 'true', background: true })).type).toBe('ok')
  })

  it('that ended with its process is told once by the next one', async () => {
    const { background, shellDirectory, untold } = await open()
    const folder = join(shellDirectory, 'commands')
    await mkdir(folder, { recursive: true })
    const record = (id: string, command: string) => JSON.stringify({ session, id, command })
    const dead = encodeURIComponent('4194305/1') // no pid is that large
    await writeFile(join(folder, `${dead}+${session}+74ei.command`), record('74ei', 'sleep 300'))
    await writeFile(join(folder, `${dead}+${session}+half.command`), '{"session"')
    await background.endLeftovers()
    const news = background.news(session)
    expect(news?.text).toBe(
      'The command 74ei in the background (sleep 300) has ended: its session, or the process that ran it, was stopped. Its output is lost. Start it again if it is needed.',
    )
    expect(background.news(session)).not.toBeNull() // not told yet
    news?.told()
    expect(background.news(session)).toBeNull()
    await expect.poll(untold).toEqual([])
  })

  it('is on record until the model knows of its end', async () => {
    const { background, call, start, untold } = await open()
    const [{ id }] = [await start('sleep 300'), await start('sleep 300')]
    expect(await untold()).toHaveLength(2)
    await call('shell_stop', { id })
    await expect.poll(untold).toHaveLength(1)
    await background.end()
    expect(await untold()).toHaveLength(1)
    expect(background.news(session)?.text).toMatch(/ has ended: its session, or the process that ran it, was stopped/)
  })

  it('that its owner left running is ended by the next process', async () => {
    const { shellDirectory, workdir } = await open()
    const here = (name: string) => JSON.stringify(join(import.meta.dirname, name))
    // The watcher and the leader are killed first, so that only the record remains.
    const owner = spawn(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        `const { createProcessRecords } = await import(${here('../program/process-records.ts')})
         const { markProcess } = await import(${here('../program/process-group.ts')})
         const { spawn } = await import('node:child_process')
         const child = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' })
         await createProcessRecords(${JSON.stringify(shellDirectory)}).add(await markProcess(child.pid))
         console.log(child.pid)
         setInterval(() => undefined, 1000)`,
      ],
      { cwd: workdir, stdio: ['ignore', 'pipe', 'inherit'] },
    )
    onTestFinished(() => void owner.kill('SIGKILL'))
    const { value } = await createInterface(owner.stdout)[Symbol.asyncIterator]().next()
    const group = Number(value)
    onTestFinished(() => signalGroup(group, 'SIGKILL'))
    const next = createProcessRecords(shellDirectory)
    await next.endLeftovers()
    expect(await livingMembers(group)).not.toEqual([]) // its owner lives
    owner.kill('SIGKILL')
    await once(owner, 'exit')
    await next.endLeftovers()
    await untilDead(group)
    expect(await readdir(shellDirectory)).toEqual([])
  })
})
